//! Any bytes as an object.

use std::sync::LazyLock;

use kollect_extract::Plan;

use crate::plans;

static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(plans::of_any_object);

/// Every plan comes to a verdict about any bytes.
pub fn object(input: &[u8]) {
    for plan in PLANS.iter() {
        plans::judge(plan, input);
    }
}
