// Package redisproc gives tests real Redis processes.
//
// Start runs one redis-server from PATH on a loopback port in a directory of the
// test and ends exactly that process when the test ends. StartCluster runs three
// masters that share the slots. A missing redis-server fails the test with the
// command that installs it; no test is ever skipped, because a tier that did not
// run must not look like one that passed.
//
// The environment variable RSC_TEST_REDIS chooses what stands behind Start:
// "process" (the default), "mini", an in-process imitation for machines without
// Redis, or "container", which starts the image that RSC_TEST_REDIS_IMAGE names
// on a container engine. Any other value fails the test.
package redisproc
