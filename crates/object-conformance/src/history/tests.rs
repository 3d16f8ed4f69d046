//! The checker itself, on written and on random histories.

use isotach_engine_kit::random::Seeded;

use super::{
    Checked, Clause, Key, Offence, Operation, Outcome, Value, check,
    order::{Search, SearchResult, Slot},
};

/// An operation that took effect between two moments.
fn done(name: &str, times: [u64; 2], clauses: &[Clause], saw: &[(Key, Value)]) -> Operation {
    let [called, returned] = times;
    let (name, clauses, saw) = (name.to_owned(), clauses.to_vec(), saw.to_vec());
    let (returned, outcome) = (Some(returned), Outcome::Done);
    Operation { process: called % 7, name, called, returned, clauses, saw, outcome, epoch: None }
}

fn put(times: [u64; 2], key: Key, value: u64) -> Operation {
    done("put", times, &[Clause::Sets(key, Some(value))], &[])
}

fn remove(times: [u64; 2], key: Key) -> Operation {
    done("remove", times, &[Clause::Sets(key, None)], &[])
}

fn get(times: [u64; 2], saw: &[(Key, Value)]) -> Operation {
    done("get", times, &[], saw)
}

fn compare(times: [u64; 2], key: Key, expected: Value, value: u64) -> Operation {
    done("compare and put", times, &[Clause::Requires(key, expected), Clause::Sets(key, Some(value))], &[])
}

fn commit(times: [u64; 2], keys: &[Key], value: u64) -> Operation {
    let clauses: Vec<Clause> = keys.iter().map(|key| Clause::Sets(*key, Some(value))).collect();
    done("commit", times, &clauses, &[])
}

fn refused(one: &Operation) -> Operation {
    Operation { outcome: Outcome::Refused, ..one.clone() }
}

#[track_caller]
fn accepts(operations: &[Operation]) -> Checked {
    check(operations).unwrap_or_else(|offence| panic!("{offence}"))
}

/// Refuses a history, and shows but a few operations of it.
#[track_caller]
fn refuses(operations: &[Operation]) -> String {
    let Err(offence) = check(operations) else { panic!("such a history cannot be") };
    let text = offence.to_string();
    let shown = text.lines().skip(2).take_while(|line| !line.starts_with("when")).count();
    assert!((1..=4).contains(&shown) && text.contains("<-- not this"), "{text}");
    text
}

#[test]
fn only_overlapping_operations_may_be_reordered() {
    let both = [put([0, 1000], 1, 10), put([0, 1000], 1, 20)];
    for last in [10, 20] {
        accepts(&[&both[..], &[get([2000, 3000], &[(1, Some(last))])]].concat());
    }
    let in_turn = [put([0, 1000], 1, 10), put([2000, 3000], 1, 20)];
    accepts(&[&in_turn[..], &[get([4000, 5000], &[(1, Some(20))])]].concat());
    refuses(&[&in_turn[..], &[get([4000, 5000], &[(1, Some(10))])]].concat());
    accepts(&[&in_turn[..], &[get([1500, 5000], &[(1, Some(10))])]].concat());
}

#[test]
fn a_stale_read_is_refused() {
    let history = [
        put([0, 1000], 1, 10),
        get([2000, 3000], &[(1, Some(10))]),
        put([4000, 9000], 1, 20),
        get([5000, 6000], &[(1, Some(20))]),
        get([7000, 8000], &[(1, Some(10))]),
    ];
    accepts(&history[..4]);
    let told = refuses(&history);
    assert!(told.contains("k1 was 10   <-- not this") && told.contains("k1 20"), "{told}");
}

#[test]
fn a_lost_update_is_refused() {
    let first = put([0, 1000], 1, 1);
    let (one, other) = (compare([2000, 6000], 1, Some(1), 2), compare([3000, 7000], 1, Some(1), 3));
    accepts(&[first.clone(), one.clone(), refused(&other)]);
    refuses(&[first.clone(), one.clone(), other.clone()]);
    refuses(&[first, refused(&one), refused(&other)]);
}

#[test]
fn a_value_out_of_thin_air_is_refused() {
    let history = [put([0, 1000], 1, 10), get([500, 1500], &[(1, Some(99))]), put([2000, 3000], 1, 99)];
    let told = refuses(&history);
    assert!(told.contains("k1 was 99   <-- not this") && told.contains("k1 nothing"), "{told}");
}

#[test]
fn a_torn_transaction_is_refused() {
    let keys = [1, 2, 3];
    let both = [commit([0, 1000], &keys, 10), commit([2000, 6000], &keys, 20)];
    let seen = |times, values: [u64; 3]| {
        let saw: Vec<_> = keys.iter().copied().zip(values.map(Some)).collect();
        get(times, &saw)
    };
    for values in [[10, 10, 10], [20, 20, 20]] {
        accepts(&[&both[..], &[seen([3000, 4000], values)]].concat());
    }
    for values in [[10, 20, 20], [20, 10, 10], [20, 20, 10]] {
        refuses(&[&both[..], &[seen([3000, 4000], values)]].concat());
    }
    // One key after the other may be seen before and after it, but not after and before.
    let [before, after] = [(1, Some(10)), (2, Some(20))].map(|saw| [saw]);
    accepts(&[&both[..], &[get([3000, 4000], &before), get([4500, 5000], &after)]].concat());
    refuses(&[&both[..], &[get([3000, 4000], &after), get([4500, 5000], &before)]].concat());
}

#[test]
fn a_refused_transaction_is_never_seen() {
    let move_it = done(
        "move",
        [2000, 3000],
        &[Clause::Requires(1, Some(7)), Clause::Sets(1, None), Clause::Sets(2, Some(8))],
        &[],
    );
    let first = put([0, 1000], 1, 5);
    accepts(&[first.clone(), refused(&move_it), get([4000, 5000], &[(1, Some(5)), (2, None)])]);
    refuses(&[first.clone(), move_it.clone()]);
    refuses(&[first, refused(&move_it), get([4000, 5000], &[(2, Some(8))])]);
}

#[test]
fn a_removed_value_does_not_come_back() {
    let history = [put([0, 1000], 1, 10), remove([2000, 3000], 1)];
    accepts(&[&history[..], &[get([4000, 5000], &[(1, None)])]].concat());
    refuses(&[&history[..], &[get([4000, 5000], &[(1, Some(10))])]].concat());
}

#[test]
fn the_operation_of_a_killed_process_happened_at_any_time_after_its_call_or_never() {
    let lost = put([2000, 3000], 1, 20).unfinished();
    let first = put([0, 1000], 1, 10);
    for seen in [[10, 10], [10, 20], [20, 20]] {
        let [one, other] = seen.map(|value| [(1, Some(value))]);
        accepts(&[first.clone(), lost.clone(), get([8000, 8500], &one), get([9000, 9500], &other)]);
    }
    let (new, old) = ([(1, Some(20))], [(1, Some(10))]);
    refuses(&[first.clone(), lost.clone(), get([8000, 8500], &new), get([9000, 9500], &old)]);
    refuses(&[first, get([1200, 1500], &new), lost]);
}

#[test]
fn a_read_set_may_be_refused_without_cause_and_never_holds_against_a_change() {
    let clauses = [Clause::Unchanged(1, Some(10)), Clause::Sets(1, Some(30))];
    let guarded = done("commit if unchanged", [4000, 5000], &clauses, &[]);
    let first = put([0, 1000], 1, 10);
    accepts(&[first.clone(), guarded.clone()]);
    accepts(&[first.clone(), refused(&guarded)]);
    refuses(&[first, put([2000, 3000], 1, 20), guarded]);
}

#[test]
fn an_epoch_that_goes_back_is_refused() {
    let at = |times, epoch| Operation { epoch: Some(epoch), ..put(times, times[0], 1) };
    accepts(&[at([0, 1000], 50), at([500, 2000], 40), at([1500, 3000], 50)]);
    let history = [at([0, 1000], 50), at([500, 2000], 40), at([1500, 3000], 49)];
    let Err(Offence::EpochGoesBack(two)) = check(&history) else { panic!("it goes back") };
    assert_eq!(two.map(|one| one.called), [0, 1500]);
}

/// What one register and a pair of keys do when each operation takes effect at one moment, as seen by many processes.
fn true_history(seed: u64, operations: u64, processes: u64) -> Vec<Operation> {
    let mut random = Seeded(seed);
    let (mut held, mut free_at) = ([None; 3], vec![0; processes as usize]);
    let mut history = Vec::new();
    for number in 1..=operations {
        // The moments at which operations take effect follow each other; calls are before, returns after.
        let moment = number * 100;
        let process = (0..processes).rfind(|process| free_at[*process as usize] < moment);
        let Some(process) = process else { continue };
        let called = moment - random.below(moment - free_at[process as usize]).min(1500);
        let returned = moment + 1 + random.below(900);
        free_at[process as usize] = returned + 1;
        let mut one = match random.below(6) {
            0 | 1 => get([called, returned], &[(0, held[0])]),
            2 => put([called, returned], 0, number),
            3 => compare([called, returned], 0, if random.below(2) == 0 { held[0] } else { Some(3) }, number),
            4 => commit([called, returned], &[1, 2], number),
            _ => get([called, returned], &[(1, held[1]), (2, held[2])]),
        };
        one.process = process;
        if one.clauses.iter().any(|part| matches!(part, Clause::Requires(0, value) if *value != held[0])) {
            one.outcome = Outcome::Refused;
        } else if !one.is_passive() && random.below(400) == 0 {
            let happens = random.below(2) == 0;
            one.changes().filter(|_| happens).for_each(|(key, value)| held[key as usize] = value);
            one = one.unfinished();
        } else {
            one.changes().for_each(|(key, value)| held[key as usize] = value);
        }
        history.push(one);
    }
    history
}

#[test]
fn a_true_history_is_accepted_and_one_wrong_answer_in_it_is_refused() {
    for seed in 1..=200 {
        let mut history = true_history(seed, 150, 5);
        check(&history).unwrap_or_else(|offence| panic!("seed {seed}: {offence}"));
        let mut random = Seeded(seed);
        let reads: Vec<usize> = (0..history.len()).filter(|at| !history[*at].saw.is_empty()).collect();
        let at = reads[random.below(reads.len() as u64) as usize];
        // Nobody wrote that before.
        history[at].saw[0].1 = Some(10_000);
        assert!(check(&history).is_err(), "seed {seed}: operation {at} is wrong");
    }
}

#[test]
fn ten_thousand_operations_are_checked_in_seconds() {
    let begin = std::time::Instant::now();
    let history = true_history(1, 12_000, 8);
    assert!(history.len() > 10_000, "{} operations", history.len());
    let checked = accepts(&history);
    println!("{checked}: {:?}", begin.elapsed());
    assert!(checked.states < 2_000_000, "{checked}");
    let mut wrong = history;
    let at = wrong.iter().rposition(|one| !one.saw.is_empty()).unwrap();
    wrong[at].saw[0].1 = Some(1);
    let told = check(&wrong).unwrap_err().to_string();
    println!("refused: {:?}\n{told}", begin.elapsed());
    assert!(told.lines().count() < 40, "{told}");
}

/// Tries every order, one after the other.
fn has_an_order(operations: &[Operation]) -> bool {
    fn go(rest: &[Operation], held: &mut std::collections::BTreeMap<Key, Value>) -> bool {
        if rest.iter().all(|one| one.returned.is_none()) {
            return true;
        }
        let first_return = rest.iter().filter_map(|one| one.returned).min().unwrap_or(u64::MAX);
        (0..rest.len()).any(|at| {
            let one = &rest[at];
            let of = |held: &std::collections::BTreeMap<Key, Value>, key| held.get(&key).copied().flatten();
            let holds = one.clauses.iter().all(|part| match part {
                Clause::Requires(key, value) | Clause::Unchanged(key, value) => of(held, *key) == *value,
                Clause::Sets(..) => true,
            });
            let fits = match one.outcome {
                Outcome::Refused => !holds,
                _ => holds && one.saw.iter().all(|(key, value)| of(held, *key) == *value),
            };
            if one.called > first_return || !fits {
                return false;
            }
            let before = held.clone();
            if one.outcome != Outcome::Refused {
                held.extend(one.changes());
            }
            let mut others = rest.to_vec();
            others.remove(at);
            let found = go(&others, held);
            *held = before;
            found
        })
    }
    go(operations, &mut std::collections::BTreeMap::new())
}

#[test]
fn the_search_agrees_with_trying_every_order() {
    let (mut with, mut without) = (0, 0);
    for seed in 1..=1500 {
        let mut random = Seeded(seed);
        let one = |_| {
            let called = random.below(60) * 10;
            let times = [called, called + 1 + random.below(30) * 10];
            let (key, value) = (random.below(2), 1 + random.below(3));
            let expected = [None, Some(1), Some(2), Some(3)][random.below(4) as usize];
            let one = match random.below(7) {
                0 | 1 => get(times, &[(key, expected)]),
                2 => get(times, &[(0, expected), (1, Some(value))]),
                3 => put(times, key, value),
                4 => remove(times, key),
                5 => commit(times, &[0, 1], value),
                _ => compare(times, key, expected, value),
            };
            match random.below(8) {
                0 => one.unfinished(),
                1 if one.clauses.len() > 1 && one.name != "commit" => refused(&one),
                _ => one,
            }
        };
        let history: Vec<Operation> = (0..7).map(one).collect();
        let all: Vec<&Operation> = history.iter().collect();
        let found = matches!(Search::new(&all, 100_000).run(Slot::Is(None)), SearchResult::Order);
        assert_eq!(found, has_an_order(&history), "seed {seed}: {history:#?}");
        assert_eq!(found, check(&history).is_ok(), "seed {seed}: {history:#?}");
        *if found { &mut with } else { &mut without } += 1;
    }
    assert!(with > 100 && without > 100, "{with} histories have an order, {without} have none");
}
