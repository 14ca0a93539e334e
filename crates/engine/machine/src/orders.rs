//! Rotations of the SM numbering. SMs are identical, so a rotation changes only the order of
//! arbitration, and the spread of a result over rotations is noise.

use super::Machine;

impl Machine {
    /// Returns values of `run.first_sm` for up to `orders` orders, spread over the machine, with the
    /// machine's own value first. SMs of a node stay together, since sharing a node is not a matter
    /// of order; a machine with fewer nodes has fewer orders.
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
        assert_eq!(of(&["sm.count=2"], 5), [0, 1], "no order is repeated");
        assert_eq!(of(&[], 1), [0]);
    }
}
