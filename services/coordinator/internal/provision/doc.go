// Package provision makes and removes the data side of a stream in Redis: the shard
// keys and the consumer groups on them.
//
// A Plan says what should be there and is pure. Run and Destroy carry it out in
// pipelines, may be repeated at any time and change nothing that is already as
// planned. What Redis refuses half way ends the run with a StepError; the same plan
// again completes it.
package provision
