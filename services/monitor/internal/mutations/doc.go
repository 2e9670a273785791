// Package mutations reads what was changed last in a group from the audit that gateways keep
// in Redis (monitoring, APIs; gateway, Audit). It reads the group's own stream when somebody
// asks, in one command, and is no part of the rounds of observation.
//
// Non-obvious:
//   - A mutation that was sent has an intent and an outcome; only its outcome is told.
//   - Refusals before a mutation is sent are in the audit's chain only, not in the group's
//     own stream, so a flood of them hides nothing here.
//   - A group that nobody has changed has no stream. Whether that is so, or the audit is kept
//     elsewhere, the audit's chain tells.
package mutations
