//! Short names of policies: `fr-fcfs(banks=stepping,picks_per_cycle=1)` becomes `fr-fcfs`. Policies
//! of the same name keep the parameters that distinguish them.

/// Splits a policy's text into names, separated by slashes, each with its parameters.
fn parts(text: &str) -> Vec<(&str, Vec<&str>)> {
    split(text, '/').into_iter().map(part).collect()
}

fn part(text: &str) -> (&str, Vec<&str>) {
    let inner = text.split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)));
    let Some((name, parameters)) = inner else { return (text, Vec::new()) };
    let parameters = split(parameters, ',');
    // Parentheses may contain something other than parameters.
    match parameters.iter().all(|parameter| parameter.contains('=')) {
        true => (name, parameters),
        false => (text, Vec::new()),
    }
}

/// Splits at `separator` outside of parentheses and brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    text.split(|character| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && character == separator
    })
    .collect()
}

/// Returns a short name for each name; different names stay different.
pub fn short(names: &[String]) -> Vec<String> {
    let parsed: Vec<_> = names.iter().map(|name| parts(name)).collect();
    let bare =
        |parts: &[(&str, Vec<&str>)]| parts.iter().map(|p| p.0).collect::<Vec<_>>().join("/");
    let bares: Vec<String> = parsed.iter().map(|parts| bare(parts)).collect();
    let shorten = |number: usize| {
        let same: Vec<usize> =
            (0..names.len()).filter(|&other| bares[other] == bares[number]).collect();
        let is_shared = |place: usize, parameter: &str| {
            same.iter().all(|&other| parsed[other][place].1.contains(&parameter))
        };
        let part = |(place, (name, parameters)): (usize, &(&str, Vec<&str>))| {
            let own: Vec<&str> = parameters
                .iter()
                .copied()
                .filter(|parameter| !is_shared(place, parameter))
                .collect();
            match own.as_slice() {
                [] => (*name).to_owned(),
                own => format!("{name}({})", own.join(",")),
            }
        };
        parsed[number].iter().enumerate().map(part).collect::<Vec<_>>().join("/")
    };
    (0..names.len()).map(shorten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(names: &[&str]) -> Vec<String> {
        short(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn labels_name_only_distinguishing_parameters() {
        assert_eq!(
            shortened(&["fr-fcfs(banks=stepping,picks_per_cycle=1)", "fcfs"]),
            ["fr-fcfs", "fcfs"]
        );
        let two = ["fr-fcfs(banks=stepping,cap=4)", "fr-fcfs(banks=oldest,cap=4)", "fr-fcfs"];
        assert_eq!(
            shortened(&two),
            ["fr-fcfs(banks=stepping,cap=4)", "fr-fcfs(banks=oldest,cap=4)", "fr-fcfs"]
        );
        assert_eq!(shortened(&two[..2]), ["fr-fcfs(banks=stepping)", "fr-fcfs(banks=oldest)"]);
    }

    #[test]
    fn policies_of_several_slots_are_shortened_one_by_one() {
        let names = ["fr-fcfs(a=1)/owl(group=8,b=[1,2])", "fcfs(a=2/3)/owl(group=8,b=[1,2])"];
        assert_eq!(shortened(&names), ["fr-fcfs/owl", "fcfs/owl"]);
        assert_eq!(shortened(&["bfs (scalar)", "(odd)", "a/b"]), ["bfs (scalar)", "(odd)", "a/b"]);
    }
}
