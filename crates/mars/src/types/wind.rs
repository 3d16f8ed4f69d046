//! Winds that are stored as vorticity and divergence: a request for a component is answered by these two, from which it
//! can be worked out. FDB does the same.

/// One wind: the parameters of its two components, and of its vorticity and divergence.
struct Wind {
    components: [&'static str; 2],
    stored: [&'static str; 2],
}

/// The wind itself, its gradient, and two kinds of anomaly.
const WINDS: [Wind; 4] = [
    Wind { components: ["131", "132"], stored: ["138", "155"] },
    Wind { components: ["129131", "129132"], stored: ["129138", "129155"] },
    Wind { components: ["171131", "171132"], stored: ["171138", "171155"] },
    Wind { components: ["200131", "200132"], stored: ["200138", "200155"] },
];

/// The vorticity and divergence that stand for a component of a wind.
pub(crate) fn stored_for(component: &str) -> Option<[&'static str; 2]> {
    WINDS.iter().find(|wind| wind.components.contains(&component)).map(|wind| wind.stored)
}

/// The components of a wind that its vorticity or divergence may have been found for, the likelier first: so that of
/// two fields found for two components each answers one.
pub(crate) fn components_of(stored: &str) -> Option<[&'static str; 2]> {
    let wind = WINDS.iter().find(|wind| wind.stored.contains(&stored))?;
    let [u, v] = wind.components;
    Some(if wind.stored[0] == stored { [u, v] } else { [v, u] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param_id;

    #[test]
    fn the_wind_is_known_by_the_numbers_of_its_names() {
        let [u, v, vo, d] =
            ["u", "v", "vo", "d"].map(|name| param_id(name).map(|id| id.to_string()).unwrap());
        for component in [&u, &v] {
            assert_eq!(stored_for(component), Some([vo.as_str(), d.as_str()]));
        }
        assert_eq!(components_of(&d), Some([v.as_str(), u.as_str()]));
        assert_eq!(stored_for("130"), None);
        assert_eq!(components_of("131"), None);
    }
}
