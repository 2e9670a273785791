// Package e2e holds the proofs that need the whole suite: real Redis servers, the
// coordinator's binary, and the replay example with consumers in processes of their own
// that are killed. Everything is in its tests; they read what happened from the ledgers
// that replay writes.
//
// RSC_E2E_RECORDS sets how many generated records the replays have (30,000 if it is not
// set), RSC_E2E_FILE names a file to replay instead, whose lines have their first word as
// the key. RSC_E2E_SCALES and RSC_E2E_SEED set how often the shard count changes in chaos
// (4 times), and how (1). The tests print their figures with -v.
package e2e
