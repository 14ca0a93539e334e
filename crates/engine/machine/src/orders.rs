//! The same machine with its SMs counted from a different first SM. As all SMs are alike, this
//! changes only the order of arbitration, and the amount by which a result changes with it is
//! noise.

use super::Machine;

impl Machine {
    /// Values of `run.first_sm` for up to `orders` different orders, spread over the machine; the
    /// machine's own value comes first. SMs of a node are never separated, because which SMs share
    /// a node is not a matter of order. A machine with fewer nodes has fewer orders.
    pub fn first_sms(&self, orders: u32) -> Vec<u32> {
        let (sms, per_node) = (self.sm.count, self.network.sms_per_node);
        let mut first_sms = vec![self.run.first_sm];
        for order in 1..orders {
            let first = (u64::from(order) * u64::from(sms) / u64::from(orders)) as u32;
            let first = first / per_node * per_node;
            if !first_sms.contains(&first) {
                first_sms.push(first);
            }
        }
        first_sms
    }
}

#[cfg(test)]
mod tests {
    use crate::load;

    #[test]
    fn orders_are_spread_over_the_sms_and_keep_nodes_together() {
        let of = |overrides: &[&str], orders| {
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            load("yuan2009", &overrides).unwrap().first_sms(orders)
        };
        assert_eq!(of(&["network.sms_per_node=1"], 5), [0, 5, 11, 16, 22]);
        assert_eq!(of(&["network.sms_per_node=1", "run.first_sm=11"], 5), [11, 5, 16, 22]);
        assert_eq!(of(&["network.sms_per_node=4"], 5), [0, 4, 8, 16, 20]);
        assert_eq!(of(&["sm.count=2"], 5), [0, 1], "and none is there twice");
        assert_eq!(of(&[], 1), [0]);
    }
}
