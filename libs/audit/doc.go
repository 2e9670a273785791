// Package audit is the arithmetic of the audit's hash chain (gateway, Audit): it gives
// records their place in a chain, and tells what is wrong with a chain that it is shown.
//
// Each record carries the hash of the one before it, so that a record cannot be changed,
// removed, put elsewhere or slipped in without the ones behind it showing it. The newest
// record has none behind it; it is vouched for by the head, which the sink keeps apart.
//
// What a chain cannot show:
//   - Its oldest records may be missing, as a sink with a bound trims them. Verify tells
//     with which record a chain begins; whoever noted that record's hash before can compare.
//   - Who may write all of it, head included, can compute another one. A copy of a head
//     that is kept elsewhere shows that.
//
// It is arithmetic: no I/O, no clock, no state.
package audit
