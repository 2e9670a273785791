// Package metrics holds what the gateway counts: every request of the API, what it refuses, and
// how its audit, its logins and the services behind it are doing (monitor, Prometheus).
//
// Non-obvious:
//   - Anybody may put any name into a path. A stream and group become labels only when a service
//     has answered for them with success; before that, and beyond MaxGroups pairs, both are
//     "none". A group that is deleted loses its series, one that nobody asks for any longer
//     loses them after an hour.
//   - A request is counted when its answer has ended, and only below the base path.
//   - Answers without an end are counted but have no duration.
package metrics
