//! The filter as index terms: every item is indexed under its project, kind and
//! agent. Long posting lists cost more than the words themselves, so where fewer
//! items are unwanted than wanted, the unwanted ones are excluded instead.

use remora_memory::store::Result;
use rusqlite::Connection;

use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::injectable_terms;
use crate::sqlite::scope::ResolvedFilter;

/// How much faster FTS5 walks a list that items must be in than one that they
/// must not be in.
const INCLUSION_SPEEDUP: i64 = 4;
/// More projects than these are not excluded one by one.
const MAX_EXCLUDED_PROJECTS: usize = 8;

/// The part of every index query that comes from the filter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexFilter {
    /// Terms that an item must have.
    pub(super) with: Vec<String>,
    /// Terms that an item must not have.
    pub(super) without: Vec<String>,
    /// The prefixes of the injectable terms that serve this filter; none means
    /// that plain terms are used.
    pub(super) signs: Vec<String>,
}

impl IndexFilter {
    /// Chooses the cheaper way. Either finds the same items, because the counters
    /// of projects and kinds are exact.
    pub(super) fn for_scope(conn: &Connection, scope: &ResolvedFilter) -> Result<Self> {
        let mut tags = Self {
            signs: injectable_terms::find_group_prefixes(scope),
            ..Self::default()
        };
        tags.with
            .extend(scope.agent.map(|agent| format!("\"_a{agent}\"")));
        // Injectable terms already contain project and kinds.
        if !tags.signs.is_empty() {
            return Ok(tags);
        }
        if let Some(project) = scope.project {
            let [own, others] = split_counts(
                conn,
                "SELECT id, items FROM projects WHERE items > 0",
                &[project],
            )?;
            if others.len() <= MAX_EXCLUDED_PROJECTS
                && sum_counts(&others) * INCLUSION_SPEEDUP < sum_counts(&own)
            {
                tags.without.extend(format_terms("_p", others));
            } else {
                tags.with.push(format!("\"_p{project}\""));
            }
        }
        if !scope.kinds.is_empty() {
            let [wanted, others] = split_counts(
                conn,
                "SELECT kind, items FROM kinds WHERE items > 0",
                &scope.kinds,
            )?;
            if sum_counts(&others) < sum_counts(&wanted) {
                tags.without.extend(format_terms("_k", others));
            } else {
                let kinds = scope.kinds.iter().map(|kind| (*kind, 0)).collect();
                let kinds: Vec<String> = format_terms("_k", kinds).collect();
                tags.with.push(format!("({})", kinds.join(" OR ")));
            }
        }
        Ok(tags)
    }

    /// The expression for each prefix, joined by `OR`.
    pub(super) fn of_each(&self, ask: impl Fn(&str) -> String) -> String {
        if self.signs.is_empty() {
            return ask("");
        }
        let each: Vec<String> = self.signs.iter().map(|sign| ask(sign)).collect();
        format!("({})", each.join(" OR "))
    }

    /// The expression restricted to the filter.
    pub(super) fn build_expression(&self, expression: &str) -> String {
        let mut with: Vec<&str> = self.with.iter().map(String::as_str).collect();
        with.push(expression);
        let with = with.join(" AND ");
        if self.without.is_empty() {
            return with;
        }
        format!("({with}) NOT ({})", self.without.join(" OR "))
    }
}

/// Ids with their item counts: those that are wanted, and the others.
fn split_counts(conn: &Connection, sql: &str, wanted: &[i64]) -> Result<[Vec<(i64, i64)>; 2]> {
    let all: Vec<(i64, i64)> = conn
        .prepare_cached(sql)
        .store_err()?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()?;
    let (own, others) = all.into_iter().partition(|(id, _)| wanted.contains(id));
    Ok([own, others])
}

fn sum_counts(counted: &[(i64, i64)]) -> i64 {
    counted.iter().map(|(_, rows)| rows).sum()
}

fn format_terms(sign: &str, counted: Vec<(i64, i64)>) -> impl Iterator<Item = String> {
    counted
        .into_iter()
        .map(move |(id, _)| format!("\"{sign}{id}\""))
}

#[cfg(test)]
mod tests;
