// Package postgresproc gives tests real PostgreSQL servers.
//
// Start makes a cluster in a directory of its own, runs its server on a loopback port and
// ends exactly those processes when the test ends. A server takes a second or more to come
// up, so one serves all tests of a package, and each of them gets a Database of its own.
// A missing PostgreSQL fails the test with the command that installs it; no test is ever
// skipped, because a tier that did not run must not look like one that passed.
//
// PostgreSQL refuses to run as root. A test that does is served as the user postgres, which
// every package of PostgreSQL brings along.
package postgresproc
