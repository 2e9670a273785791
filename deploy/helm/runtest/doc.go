// Package runtest runs the suite with what the Helm chart renders: each service's own loader
// reads the configuration and secrets that its pod would get, and all of them start together on
// a real Redis.
package runtest
