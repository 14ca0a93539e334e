//! Inverted index: one task per HTML document scans it byte by byte for links and emits the link's
//! address with the number of the document. In the sorted directory, the documents that link to a
//! page form a group.
//!
//! ```cuda
//! __constant__ unsigned char PATTERN[] = "<a href=\"";
//!
//! // The map.
//! unsigned at = offsets[task], end = offsets[task + 1], matched = 0;
//! while (at < end) {
//!     unsigned char c = text[at++];
//!     matched = c == PATTERN[matched] ? matched + 1 : c == '<';              // '<' is nowhere else in it
//!     if (matched == 9) {
//!         matched = 0;
//!         c = text[at];
//!         while (c != '"') { /* byte c of the key */ c = text[++at]; }
//!         /* the end of the pair, with the value task */
//!     }
//! }
//! ```

use super::super::prelude::*;
use super::text::{DeviceTexts, Texts, letters, urls};
use super::{Emitter, Groups, Pairs, map_tasks};

pub const GENERATOR: Generator = Generator {
    name: "inverted-index",
    summary: "MapReduce on HTML: documents scanned for links byte by byte in two passes, sorted, grouped",
    source: "Mars, InvertedIndex (He et al., PACT 2008)",
    parameters: &[&[
        Parameter::count("documents", 1 << 13, (1, 1 << 20), "documents", "Documents"),
        Parameter::count(
            "links",
            2,
            (1, 64),
            "links",
            "Mean links per document; uniform from 1 to twice the mean minus one",
        ),
        Parameter::count(
            "words",
            8,
            (1, 64),
            "words",
            "Mean words before a link; uniform from 1 to twice the mean minus one",
        ),
        Parameter::count("pages", 1 << 16, (1, 1 << 20), "pages", "Pages that links point to"),
        SKEW,
        Parameter::count("block", 128, (1, 1024), "threads", "Threads per CTA"),
    ]],
    run: |gpu, arguments, random| {
        let [documents, links, words, pages] =
            ["documents", "links", "words", "pages"].map(|name| arguments.count32(name));
        // A link and its text take at most 128 bytes, and a word 16.
        let most = u64::from(documents) * u64::from(2 * links) * u64::from(128 + 16 * 2 * words);
        if most > MAX_BYTES {
            let message = format!(
                "--documents {} of --links {links} and --words {words} may be more than 2^32 bytes",
                show_count(documents.into())
            );
            return Err(WorkloadError::Inconsistent { message });
        }
        let (urls, skew) = (urls(pages, random), arguments.hundredths("skew"));
        let texts = Web { urls: &urls, zipf: Zipf::new(pages, skew), links, words }
            .texts(documents, random);
        index(gpu, &texts, arguments.count32("block")).map(drop)
    },
};

/// Offsets have 32 bits.
const MAX_BYTES: u64 = 1 << 32;
/// Start of a link; its first byte does not repeat in it.
const PATTERN: &[u8; 9] = b"<a href=\"";

/// The parameters of the documents.
struct Web<'a> {
    urls: &'a [String],
    /// Popularity of the pages.
    zipf: Zipf,
    /// Mean links per document, and mean words before each.
    links: u32,
    words: u32,
}

impl Web<'_> {
    fn texts(&self, n: u32, random: &mut Random) -> Texts {
        let mut texts = Texts::new();
        for _ in 0..n {
            for _ in 0..around(self.links, random) {
                let words = (0..around(self.words, random)).map(|_| word(random));
                let words: String = words.collect();
                let url = &self.urls[self.zipf.draw(random) as usize];
                let link = format!("{words}<a href=\"{url}\">{}</a>\n", letters(3, 12, random));
                texts.bytes.extend(link.bytes());
            }
            texts.end();
        }
        texts
    }
}

/// Draws a number from 1 to twice `mean`, minus one.
fn around(mean: u32, random: &mut Random) -> u32 {
    1 + random.index(2 * mean - 1)
}

/// Generates a word and its context: one in eight begins a paragraph, and one in eight is an anchor
/// without a link.
fn word(random: &mut Random) -> String {
    let kind = random.index(8);
    let word = letters(1, 9, random);
    match kind {
        0 => format!("<p>{word} "),
        1 => format!("<a>{word} "),
        _ => format!("{word} "),
    }
}

fn index(gpu: &mut Gpu, texts: &Texts, block: u32) -> Result<(Pairs, Groups), WorkloadError> {
    let device = DeviceTexts::upload(gpu, texts);
    let pattern = Constants::new(PATTERN);
    let pairs = map_tasks(gpu, texts.len(), block, |task, emitter| {
        map(device, &pattern, task, emitter);
    })?;
    pairs.sort(gpu)?;
    let groups = pairs.group(gpu, block)?;
    Ok((pairs, groups))
}

fn map<'w>(
    texts: DeviceTexts,
    pattern: &Constants<u8>,
    task: Lanes<'w, u32>,
    emitter: &Emitter<'w>,
) {
    let w = task.warp();
    let bounds = texts.offsets.at(task);
    let (at, end) = (w.var(bounds.load()), bounds.offset(1).load());
    let (matched, c) = (w.var(0), w.var(0u8));
    let next = || c.set(texts.bytes.load(at.get()));
    let advance = || at.set(at.get() + 1);
    w.while_loop(
        || at.get().lt(end),
        || {
            next();
            advance();
            let goes_on = c.get().eq(pattern.load(matched.get()));
            let again = c.get().eq(PATTERN[0]).select(1, 0);
            matched.set(goes_on.select(matched.get() + 1, again));
            w.when(matched.get().eq(PATTERN.len() as u32), || {
                matched.set(0);
                emitter.begin();
                next();
                w.while_loop(
                    || c.get().ne(b'"'),
                    || {
                        emitter.push(c.get());
                        advance();
                        next();
                    },
                );
                emitter.end(task);
            });
        },
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::super::testing::*;
    use super::*;

    fn texts(documents: u32, links: u32, pages: u32) -> Texts {
        let mut random = Random::new(6);
        let urls = urls(pages, &mut random);
        Web { urls: &urls, zipf: Zipf::new(pages, 75), links, words: 4 }
            .texts(documents, &mut random)
    }

    type Documents = BTreeMap<String, Vec<u32>>;

    /// Returns the documents that link to each page, one entry per link.
    fn plain(texts: &Texts) -> Documents {
        let mut index = Documents::new();
        for (number, text) in (0..).zip(texts.iter()) {
            for link in text.split("<a href=\"").skip(1) {
                let url = link.split('"').next().unwrap();
                index.entry(url.to_owned()).or_default().push(number);
            }
        }
        index
    }

    #[test]
    fn every_page_has_the_documents_that_link_to_it() {
        for (documents, links, pages) in [(1, 1, 1), (100, 2, 30), (150, 5, 1000), (40, 20, 3)] {
            let texts = texts(documents, links, pages);
            let run = run(|gpu| {
                let (pairs, groups) = index(gpu, &texts, 96)?;
                Ok((pairs.download(gpu), gpu.download(groups.starts)))
            });
            let (pairs, starts) = run.result;
            let expected = plain(&texts);
            assert_eq!(starts.len(), expected.len() + 1, "{documents} documents");
            assert_eq!(starts[expected.len()] as usize, pairs.len());
            let mut found = Documents::new();
            for bounds in starts.windows(2) {
                let group = &pairs[bounds[0] as usize..bounds[1] as usize];
                assert!(group.iter().all(|(key, _)| *key == group[0].0));
                let mut documents: Vec<u32> = group.iter().map(|&(_, value)| value).collect();
                documents.sort_unstable();
                found.insert(String::from_utf8(group[0].0.clone()).unwrap(), documents);
            }
            assert_eq!(found, expected, "{documents} documents");
        }
    }

    #[test]
    fn a_thread_reads_every_byte_of_its_document_twice() {
        let texts = texts(64, 3, 50);
        let run = run(|gpu| {
            let device = DeviceTexts::upload(gpu, &texts);
            let pattern = Constants::new(PATTERN);
            map_tasks(gpu, 64, 64, |task, emitter| map(device, &pattern, task, emitter))?;
            Ok(device.bytes.range())
        });
        // The closing quote of a link ends its key and is scanned.
        let links: usize = texts.iter().map(|text| text.matches("<a href=").count()).sum();
        let read = run.count(Kind::Load, &run.result);
        assert_eq!(read, 2 * (texts.bytes.len() + links));
    }

    #[test]
    fn drawn_values_have_the_given_mean() {
        let mut random = Random::new(1);
        let drawn: Vec<u32> = (0..700).map(|_| around(4, &mut random)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&1), Some(&7)));
        assert!((2700..2900).contains(&drawn.iter().sum::<u32>()));
    }
}
