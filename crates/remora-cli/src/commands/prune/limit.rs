//! Which items must go for the database to become small enough.

/// Items are of about the same size; a few more go, so that one round is enough
/// most of the time.
pub(super) fn rows_to_go(rows: u64, bytes: u64, most: u64) -> u64 {
    let over = u128::from(bytes.saturating_sub(most));
    let thousandths = over * 1050 / u128::from(bytes.max(1));
    u64::try_from(u128::from(rows) * thousandths / 1000)
        .unwrap_or(rows)
        .clamp(1, rows.max(1))
}

/// The first time before which at least so many items lie, or `latest`.
pub(super) fn find_cutoff_time<E>(
    wanted: u64,
    latest: i64,
    count: &dyn Fn(i64) -> Result<u64, E>,
) -> Result<i64, E> {
    let (mut low, mut high) = (0, latest.max(0));
    // By halves: each count is a query, and times are in milliseconds.
    while low < high {
        let middle = low + (high - low) / 2;
        if count(middle)? >= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_rows_follows_the_share_of_bytes() {
        assert_eq!(rows_to_go(1000, 100, 50), 525);
        assert_eq!(rows_to_go(1000, 100, 0), 1000);
        assert_eq!(rows_to_go(10, 1_000_000, 999_999), 1);
        assert_eq!(rows_to_go(0, 0, 0), 1);
        assert_eq!(rows_to_go(u64::MAX, u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn the_moment_is_the_first_that_is_late_enough() {
        let times = [10, 20, 20, 30];
        let count = |before: i64| -> Result<u64, ()> {
            Ok(times.iter().filter(|time| **time < before).count() as u64)
        };
        assert_eq!(find_cutoff_time(1, 100, &count), Ok(11));
        assert_eq!(find_cutoff_time(2, 100, &count), Ok(21));
        assert_eq!(find_cutoff_time(4, 100, &count), Ok(31));
        assert_eq!(find_cutoff_time(9, 100, &count), Ok(100));
    }
}
