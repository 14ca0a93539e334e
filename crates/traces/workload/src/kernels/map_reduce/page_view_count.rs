//! Page view count: one task per line of a web server's log emits the page address with the value
//! 1; one task per group sums the values.
//!
//! ```cuda
//! // The map, of log lines "address \t host \t cookie \n".
//! unsigned at = offsets[task];
//! unsigned char c = text[at];
//! while (c != '\t') { /* byte c of the key */ c = text[++at]; }
//! /* the end of the pair, with the value 1 */
//!
//! __global__ void reduce(unsigned groups) {
//!     unsigned group = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (group >= groups) return;
//!     unsigned first = starts[group], end = starts[group + 1], sum = 0;
//!     for (unsigned i = first; i < end; i++) sum += values[pairs[i].value];
//!     views[group] = make_uint2(pairs[first].key, sum);
//! }
//! ```

use super::super::prelude::*;
use super::text::{DeviceTexts, Texts, letters, urls};
use super::{Emitter, Groups, Pairs, map_tasks};

pub const GENERATOR: Generator = Generator {
    name: "page-view-count",
    summary: "MapReduce on log lines: addresses parsed byte by byte in two passes, sorted, grouped, counted",
    source: "Mars, PageViewCount (He et al., PACT 2008)",
    parameters: &[&[
        Parameter::count("records", 1 << 14, (1, 1 << 22), "lines", "Log lines"),
        Parameter::count("pages", 1 << 12, (1, 1 << 20), "pages", "Distinct pages"),
        SKEW,
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let [records, pages] = ["records", "pages"].map(|name| arguments.count32(name));
        let log = log(records, pages, arguments.hundredths("skew"), random);
        count(gpu, &log, arguments.count32("block")).map(drop)
    },
};

/// Generates log lines: a page address with Zipf popularity, a host and a cookie.
fn log(records: u32, pages: u32, skew: u64, random: &mut Random) -> Texts {
    let (urls, zipf) = (urls(pages, random), Zipf::new(pages, skew));
    let mut log = Texts::new();
    for _ in 0..records {
        let url = &urls[zipf.draw(random) as usize];
        let host = [(); 4].map(|()| random.index(256).to_string()).join(".");
        let cookie = letters(8, 24, random);
        log.bytes.extend(format!("{url}\t{host}\t{cookie}\n").bytes());
        log.end();
    }
    log
}

/// Returns the pairs, and for each page the position of its address among the keys and its views.
fn count(
    gpu: &mut Gpu,
    log: &Texts,
    block: u32,
) -> Result<(Pairs, Array<[u32; 2]>), WorkloadError> {
    let text = DeviceTexts::upload(gpu, log);
    let pairs = map_tasks(gpu, log.len(), block, |task, emitter| map(text, task, emitter))?;
    pairs.sort(gpu)?;
    let groups = pairs.group(gpu, block)?;
    let views = gpu.zeros(groups.len.into());
    gpu.launch(&launch("reduce", groups.len, block, 18), async |w| {
        reduce(w, &pairs, &groups, views);
    })?;
    Ok((pairs, views))
}

fn map<'w>(text: DeviceTexts, task: Lanes<'w, u32>, emitter: &Emitter<'w>) {
    let w = task.warp();
    let at = w.var(text.offsets.load(task));
    let c = w.var(text.bytes.load(at.get()));
    emitter.begin();
    w.while_loop(
        || c.get().ne(b'\t'),
        || {
            emitter.push(c.get());
            at.set(at.get() + 1);
            c.set(text.bytes.load(at.get()));
        },
    );
    emitter.end(1);
}

fn reduce(w: &Warp, pairs: &Pairs, groups: &Groups, views: Array<[u32; 2]>) {
    let group = w.global_x();
    w.exit_unless(group.lt(groups.len));
    let bounds = groups.starts.at(group);
    let (first, end) = (bounds.load(), bounds.offset(1).load());
    let sum = w.var(0);
    // The loop counter has its own register, initialised by a copy.
    w.range(first + 0, end, 1, |i| {
        let value = pairs.directory.at(i).part(3).load();
        sum.set(pairs.values.load(value) + &sum);
    });
    let key = pairs.directory.at(first).part(1).load();
    views.at(group).store_parts([key, sum.get()]);
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn every_page_is_counted_as_often_as_it_is_viewed() {
        for (records, pages, skew) in [(1, 1, 0), (300, 40, 75), (700, 5, 200), (1100, 5000, 0)] {
            let log = log(records, pages, skew, &mut Random::new(3));
            let run = run(|gpu| {
                let (pairs, views) = count(gpu, &log, 96)?;
                Ok((gpu.download(pairs.keys), gpu.download(views)))
            });
            let mut expected: HashMap<&str, u32> = HashMap::new();
            log.iter().for_each(|line| {
                *expected.entry(line.split('\t').next().unwrap()).or_default() += 1;
            });
            let (keys, counts) = run.result;
            assert_eq!(counts.len(), expected.len(), "{records} lines");
            for [key, count] in counts {
                // All keys share a prefix, and each ends at the next key's start.
                let key = std::str::from_utf8(&keys[key as usize..]).unwrap();
                let end = key[1..].find("http://").map_or(key.len(), |end| end + 1);
                assert_eq!(expected.remove(&key[..end]), Some(count), "{}", &key[..end]);
            }
        }
    }

    #[test]
    fn a_thread_reads_its_line_up_to_the_end_of_the_address_twice() {
        let log = log(64, 100, 0, &mut Random::new(3));
        let run = run(|gpu| {
            let text = DeviceTexts::upload(gpu, &log);
            let pairs = map_tasks(gpu, log.len(), 64, |task, emitter| map(text, task, emitter))?;
            Ok((text.bytes.range(), pairs.keys.range()))
        });
        let (text, keys) = run.result.clone();
        let addresses: usize = log.iter().map(|line| line.find('\t').unwrap()).sum();
        assert_eq!(run.count(Kind::Load, &text), 2 * (addresses + 64));
        assert_eq!(run.count(Kind::Store, &keys), addresses);
        // Log lines are longer than 32 bytes, so rarely four lanes share a 128-byte line.
        let first = run.lines(Kind::Load, &text)[0];
        assert!(first > 8, "{first}");
    }
}
