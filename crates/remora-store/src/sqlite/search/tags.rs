//! The filter as the word index knows it: every row is listed there under its
//! project, kind and agent. Long lists cost more than the words themselves, so
//! where what is unwanted is less than what is wanted, that is kept out instead.

use remora_memory::store::Result;
use rusqlite::Connection;

use crate::sqlite::errors::Told;
use crate::sqlite::lists;
use crate::sqlite::scope::Scope;

/// A list that rows must be in is walked faster than those they must not be in.
const FASTER: i64 = 4;
/// More projects than these are not kept out one by one.
const PROJECTS: usize = 8;

/// What goes with every question to the index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tags {
    /// What a row must hold.
    pub(super) with: Vec<String>,
    /// What a row must not hold.
    pub(super) without: Vec<String>,
    /// The lists that are asked, by what their terms begin with; none means
    /// all rows.
    pub(super) signs: Vec<String>,
}

impl Tags {
    /// Finds the same rows whatever is chosen: the counts are exact.
    pub(super) fn choose(conn: &Connection, scope: &Scope) -> Result<Self> {
        let mut tags = Self {
            signs: lists::signs(scope),
            ..Self::default()
        };
        tags.with
            .extend(scope.agent.map(|agent| format!("\"_a{agent}\"")));
        if !tags.signs.is_empty() {
            return Ok(tags);
        }
        if let Some(project) = scope.project {
            let [own, others] = sides(
                conn,
                "SELECT id, items FROM projects WHERE items > 0",
                &[project],
            )?;
            if others.len() <= PROJECTS && sum(&others) * FASTER < sum(&own) {
                tags.without.extend(names("_p", others));
            } else {
                tags.with.push(format!("\"_p{project}\""));
            }
        }
        if !scope.kinds.is_empty() {
            let [wanted, others] = sides(
                conn,
                "SELECT kind, items FROM kinds WHERE items > 0",
                &scope.kinds,
            )?;
            if sum(&others) < sum(&wanted) {
                tags.without.extend(names("_k", others));
            } else {
                let kinds = scope.kinds.iter().map(|kind| (*kind, 0)).collect();
                let kinds: Vec<String> = names("_k", kinds).collect();
                tags.with.push(format!("({})", kinds.join(" OR ")));
            }
        }
        Ok(tags)
    }

    /// What is asked of each list, which is given its sign.
    pub(super) fn of_each(&self, ask: impl Fn(&str) -> String) -> String {
        if self.signs.is_empty() {
            return ask("");
        }
        let each: Vec<String> = self.signs.iter().map(|sign| ask(sign)).collect();
        format!("({})", each.join(" OR "))
    }

    /// The question within the filter.
    pub(super) fn question(&self, expression: &str) -> String {
        let mut with: Vec<&str> = self.with.iter().map(String::as_str).collect();
        with.push(expression);
        let with = with.join(" AND ");
        if self.without.is_empty() {
            return with;
        }
        format!("({with}) NOT ({})", self.without.join(" OR "))
    }
}

/// Numbers with how many rows each has: those that are wanted, and the others.
fn sides(conn: &Connection, sql: &str, wanted: &[i64]) -> Result<[Vec<(i64, i64)>; 2]> {
    let all: Vec<(i64, i64)> = conn
        .prepare_cached(sql)
        .told()?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()?;
    let (own, others) = all.into_iter().partition(|(id, _)| wanted.contains(id));
    Ok([own, others])
}

fn sum(counted: &[(i64, i64)]) -> i64 {
    counted.iter().map(|(_, rows)| rows).sum()
}

fn names(sign: &str, counted: Vec<(i64, i64)>) -> impl Iterator<Item = String> {
    counted
        .into_iter()
        .map(move |(id, _)| format!("\"{sign}{id}\""))
}

#[cfg(test)]
mod tests;
