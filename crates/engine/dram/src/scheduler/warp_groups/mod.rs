//! `wg`, `wg-m`, `wg-bw`, `wg-w`: warp groups. The requests of a warp's load to a controller are
//! served together, the group with the earliest completion first (Chatterjee et al., SC 2014).
//!
//! A group waits in the warp sorter until it is selected; then its requests wait in the command
//! queues of their banks.

mod burst;
mod command_queue;
mod coordination;
mod sorter;
#[cfg(test)]
mod tests;

use super::{
    BankSet, BankView, ChannelView, Event, Family, Queue, Queued, Scheduler, SchedulerContext,
    Slot, Traits, one,
};
use burst::minimum_efficient_bursts;
use command_queue::CommandQueue;
use coordination::Coordination;
use sorter::{Group, GroupId, Sorter};
use std::cmp::Reverse;
use warpmem_params::{
    Complexity, Counter, Entry, Param, PolicyError, PolicyInfo, Shape, bits, params,
};
use warpmem_sim::{BankId, DramCycle, Needs};

const SOURCE: &str = "Chatterjee et al., SC 2014";

const WG: PolicyInfo = PolicyInfo {
    name: "wg",
    summary: "all requests of a warp's load together, the group with the earliest completion first",
    source: SOURCE,
    params: || parameters(1),
};

const WG_M: PolicyInfo = PolicyInfo {
    name: "wg-m",
    summary: "as wg; in addition controllers prioritise groups selected by other controllers",
    source: SOURCE,
    params: || parameters(2),
};

const WG_BW: PolicyInfo = PolicyInfo {
    name: "wg-bw",
    summary: "as wg-m; in addition a row is closed only after enough requests to hide the cost",
    source: SOURCE,
    params: || parameters(2),
};

const WG_W: PolicyInfo = PolicyInfo {
    name: "wg-w",
    summary: "as wg-bw; in addition groups with one request left go first when a write drain is near",
    source: SOURCE,
    params: || parameters(3),
};

pub const WG_ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: WG,
    build: |context, params| {
        let Options { depth, .. } = params.read();
        build(context, Rules { depth, message_latency: None, bursts: false, write_margin: None })
    },
};

pub const WG_M_ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: WG_M,
    build: |context, params| {
        let Options { depth, message_latency, .. } = params.read();
        let message_latency = Some(message_latency);
        build(context, Rules { depth, message_latency, bursts: false, write_margin: None })
    },
};

pub const WG_BW_ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: WG_BW,
    build: |context, params| {
        let Options { depth, message_latency, .. } = params.read();
        let message_latency = Some(message_latency);
        build(context, Rules { depth, message_latency, bursts: true, write_margin: None })
    },
};

pub const WG_W_ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: WG_W,
    build: |context, params| {
        let Options { depth, message_latency, write_margin } = params.read();
        let (message_latency, write_margin) = (Some(message_latency), Some(write_margin));
        build(context, Rules { depth, message_latency, bursts: true, write_margin })
    },
};

params! {
    struct Options {
        /// number of selected waiting requests below which a bank takes part in the selection
        depth: u32 = 1, in 1.., unit "requests";
        /// latency of the messages that announce a controller's selection to the others
        message_latency: u32 = 4, in 1.., unit "DRAM cycles";
        /// distance from the high watermark, in writes, from which groups with one request left go
        /// first
        write_margin: u32 = 8, in 0.., unit "requests";
    }
}

/// Returns the first `count` parameters: each policy has those of the one that it extends.
fn parameters(count: usize) -> Vec<Param> {
    Options::params().into_iter().take(count).collect()
}

/// The rules in which the four policies differ.
#[derive(Clone, Copy)]
struct Rules {
    depth: u32,
    /// Latency of the messages between controllers; none without messages.
    message_latency: Option<u32>,
    /// Whether rows serve minimum efficient bursts.
    bursts: bool,
    /// Distance from a drain at which groups with one request left go first; none without the rule.
    write_margin: Option<u32>,
}

fn build(context: &SchedulerContext, rules: Rules) -> Result<Box<dyn Family>, PolicyError> {
    let latency = rules.message_latency;
    let coordination = latency.map(|cycles| Coordination::new(context.dram.channels, cycles));
    Ok(Box::new(WarpGroupFamily { context: context.clone(), rules, coordination }))
}

struct WarpGroupFamily {
    context: SchedulerContext,
    rules: Rules,
    coordination: Option<Coordination>,
}

impl Family for WarpGroupFamily {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        let coordination = self.coordination.as_ref().map(|shared| shared.of_channel(channel));
        Box::new(WarpGroups::new(&self.context, self.rules, coordination))
    }

    fn share_state(&self) -> bool {
        self.coordination.is_some()
    }

    fn needs(&self) -> Needs {
        Needs { load_ends: true, ..Needs::default() }
    }
}

#[derive(Default)]
struct Counts {
    groups: u64,
    grouped_requests: u64,
    incomplete: u64,
    score_hits: u64,
    burst_hits: u64,
}

struct WarpGroups {
    rules: Rules,
    /// Column commands that a row serves before a request to another row may close it, by the
    /// number of banks with work.
    bursts: Vec<u32>,
    /// Entries of the queue: with fewer requests in the channel it cannot be full.
    capacity: u32,
    sorter: Sorter,
    banks: Vec<CommandQueue>,
    coordination: Option<Coordination>,
    /// Requests in the channel, by bank and in total.
    in_bank: Vec<u32>,
    in_channel: u32,
    /// Number of banks with requests.
    working: usize,
    /// Selected requests that wait.
    selected: u32,
    /// Whether a group may have become selectable.
    selectable: bool,
    /// Whether the minimum efficient burst has changed.
    burst_changed: bool,
    count: Counts,
}

impl WarpGroups {
    fn new(
        context: &SchedulerContext,
        rules: Rules,
        coordination: Option<Coordination>,
    ) -> WarpGroups {
        let banks = context.dram.banks as usize;
        WarpGroups {
            rules,
            bursts: minimum_efficient_bursts(&context.dram),
            capacity: context.dram.read_queue,
            sorter: Sorter::new(context.slots()),
            banks: (0..banks).map(|_| CommandQueue::default()).collect(),
            coordination,
            in_bank: vec![0; banks],
            in_channel: 0,
            working: 0,
            selected: 0,
            selectable: false,
            burst_changed: false,
            count: Counts::default(),
        }
    }

    /// Returns the group to select: the best among the complete ones with a request for a bank with
    /// room.
    fn choose(&mut self, channel: &ChannelView) -> Option<GroupId> {
        let hurries = self.rules.write_margin.is_some_and(|margin| {
            let high = channel.write_high_watermark;
            high > 0 && channel.writes + margin >= high
        });
        let (mut best, mut unaided) = (None, None);
        let mut waits = false;
        for (id, group) in self.sorter.groups().filter(|(_, group)| group.complete) {
            waits = true;
            if !self.has_room(group) {
                continue;
            }
            let Estimate { score, hits } = self.estimate(group, channel.queue);
            let last = !(hurries && group.members.len() == 1);
            let key = |score: u32| (last, score, Reverse(hits), group.order, id);
            best = lower(best, key(score.min(group.remote_score)));
            unaided = lower(unaided, key(score));
        }
        if !waits {
            return self.choose_incomplete(channel.full);
        }
        let (_, _, _, _, chosen) = best?;
        let (_, _, _, _, without_messages) = unaided?;
        self.count.score_hits += u64::from(chosen != without_messages);
        Some(chosen)
    }

    /// Returns the oldest incomplete group if the channel would otherwise idle or no group can
    /// grow.
    fn choose_incomplete(&mut self, full: bool) -> Option<GroupId> {
        if self.selected > 0 && !full {
            return None;
        }
        let can = self.sorter.groups().filter(|(_, group)| self.has_room(group));
        let (oldest, _) = can.min_by_key(|(_, group)| group.order)?;
        self.count.incomplete += 1;
        Some(oldest)
    }

    fn has_room(&self, group: &Group) -> bool {
        let depth = self.rules.depth as usize;
        group.members.iter().any(|member| self.banks[member.bank.index()].waiting() < depth)
    }

    /// Estimates the completion of a group selected now.
    fn estimate(&self, group: &Group, queue: &Queue) -> Estimate {
        let mut estimate = Estimate { score: 0, hits: 0 };
        for members in group.by_bank() {
            let bank = members[0].bank;
            let commands = &self.banks[bank.index()];
            let row = commands.row_then(queue.open_row(bank));
            let misses = command_queue::rows(members).filter(|&other| Some(other) != row).count();
            let cost = command_queue::cost(members.len(), misses);
            estimate.score = estimate.score.max(commands.work() + cost);
            estimate.hits += members.len() - misses;
        }
        estimate
    }

    /// Moves a group's requests into the command queues of their banks, and returns these banks.
    fn select(&mut self, id: GroupId, channel: &ChannelView) -> BankSet {
        let Estimate { score, .. } = self.estimate(self.sorter.group(id), channel.queue);
        let group = self.sorter.take(id);
        let mut banks = 0;
        for members in group.by_bank() {
            let bank = members[0].bank;
            let open_row = channel.queue.open_row(bank);
            self.banks[bank.index()].append(members, open_row);
            banks |= one(bank);
        }
        self.selected += group.members.len() as u32;
        if let Some(load) = group.load {
            self.count.groups += 1;
            self.count.grouped_requests += group.members.len() as u64;
            if let Some(others) = &mut self.coordination {
                others.send(load, score, channel.now);
            }
        }
        self.sorter.give_back(id, group);
        banks
    }

    /// Lowers the scores of groups that other controllers have selected.
    fn receive_messages(&mut self, now: DramCycle) {
        let Some(coordination) = &mut self.coordination else { return };
        coordination.receive(now, |message| {
            let group = self.sorter.of_load(message.load).filter(|group| group.since < message.at);
            group.map(|group| group.remote_score = group.remote_score.min(message.score)).is_some()
        });
    }

    /// Returns whether the bank's row has served too few requests to be closed while requests wait
    /// for it.
    fn burst_goes_on(&self, bank: &BankView, next: Slot) -> bool {
        self.rules.bursts
            && bank.hits() > 0
            && !bank.is_hit(next)
            && self.banks[bank.bank.index()].bursts < self.bursts[self.working]
    }

    fn set_working(&mut self, working: usize) {
        self.burst_changed |= self.bursts[working] != self.bursts[self.working];
        self.working = working;
    }

    /// Marks the group of this load complete: no more of its requests will arrive in this channel.
    fn complete_load(&mut self, load: u32) {
        if let Some(group) = self.sorter.of_load(load) {
            group.complete = true;
            self.selectable = true;
        }
    }
}

struct Estimate {
    score: u32,
    /// Requests that would hit their row.
    hits: usize,
}

fn lower<T: Ord + Copy>(best: Option<T>, other: T) -> Option<T> {
    Some(best.map_or(other, |best| best.min(other)))
}

impl Scheduler for WarpGroups {
    fn traits(&self) -> Traits {
        Traits { takes_events: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let next = self.banks[bank.bank.index()].first()?;
        if self.burst_goes_on(bank, next) { bank.oldest_hit() } else { Some(next) }
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let complete = self.sorter.add(slot, queued);
        let waiting = &mut self.in_bank[queued.request.bank.index()];
        *waiting += 1;
        let first = *waiting == 1;
        self.in_channel += 1;
        self.selectable |= complete || self.selected == 0 || self.in_channel >= self.capacity;
        if first {
            self.set_working(self.working + 1);
        }
        if let Some(coordination) = &self.coordination {
            coordination.set_waiting(true);
        }
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let commands = &mut self.banks[bank.bank.index()];
        self.count.burst_hits += u64::from(commands.first() != Some(slot));
        if commands.start(slot) {
            self.selected -= 1;
        } else {
            self.sorter.remove(slot);
        }
        self.selectable = true;
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        match event {
            Event::Activated { bank } => self.banks[bank.index()].bursts = 0,
            Event::LoadComplete { load } => self.complete_load(load),
            Event::Overtaken | Event::Merged { .. } => {}
        }
    }

    fn on_column(&mut self, queued: &Queued, last: bool, _: DramCycle) {
        let bank = queued.request.bank.index();
        self.banks[bank].bursts += 1;
        if !last {
            return;
        }
        self.banks[bank].finish();
        self.in_channel -= 1;
        self.in_bank[bank] -= 1;
        if self.in_bank[bank] == 0 {
            self.set_working(self.working - 1);
        }
    }

    fn next_tick(&self) -> DramCycle {
        let asks = self.selectable || (self.rules.bursts && self.burst_changed);
        if asks { DramCycle::ZERO } else { DramCycle::NEVER }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.receive_messages(channel.now);
        let mut banks = 0;
        if std::mem::take(&mut self.burst_changed) {
            let has_commands = |bank: &BankId| self.banks[bank.index()].waiting() > 0;
            banks = channel.queue.banks().filter(has_commands).fold(0, |all, bank| all | one(bank));
        }
        while let Some(id) = self.choose(channel) {
            banks |= self.select(id, channel);
        }
        self.selectable = false;
        if let Some(coordination) = &self.coordination {
            coordination.set_waiting(!self.sorter.is_empty());
        }
        banks
    }

    /// Returns the cost. The paper gives no bits; these are our own. Stored in the sorter are a
    /// group and a row per request, and per group, of which there may be one per request, a
    /// completeness bit and a score; in every bank's command queue the last row and the work. A
    /// selection compares all scores, and the rows of all requests with those that will be open.
    /// `wg-m` adds the received score and compares the load of a message with that of every group;
    /// `wg-bw` adds a five-bit counter per bank, compared, and the table of bursts; `wg-w` compares
    /// whether one request is left.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let queue = shape.queue;
        let longest = command_queue::cost(queue as usize, queue as usize);
        let score = bits(u64::from(longest) + 1);
        let sorter = queue * (shape.queue_bits() + 1 + score);
        let wg = Complexity {
            stored: sorter + shape.banks * (shape.row_bits + score),
            compared: shape.row_search() + queue * score,
        };
        let load = bits(shape.sms * shape.warps);
        let remote = Complexity { stored: queue * score, compared: queue * load };
        let bursts = Complexity { stored: 2 * shape.banks * 5, compared: shape.banks * 5 };
        let last = Complexity { stored: 0, compared: queue };
        let Rules { message_latency, write_margin, .. } = self.rules;
        let additions = [
            (message_latency.is_some(), remote),
            (self.rules.bursts, bursts),
            (write_margin.is_some(), last),
        ];
        let added = additions.into_iter().filter(|&(has, _)| has).map(|(_, part)| part);
        Some(wg + added.sum())
    }

    fn counters(&self) -> Vec<Counter> {
        let mut counters = vec![
            Counter { name: "groups_selected", value: self.count.groups },
            Counter { name: "grouped_requests", value: self.count.grouped_requests },
            Counter { name: "incomplete_groups", value: self.count.incomplete },
        ];
        if let Some(coordination) = &self.coordination {
            counters.extend([
                Counter { name: "messages_sent", value: coordination.sent },
                Counter { name: "messages_matched", value: coordination.matched },
                Counter { name: "score_hits", value: self.count.score_hits },
            ]);
        }
        if self.rules.bursts {
            counters.push(Counter { name: "burst_hits", value: self.count.burst_hits });
        }
        counters
    }
}
