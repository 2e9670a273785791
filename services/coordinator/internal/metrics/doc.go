// Package metrics holds what a coordinator counts of its own work (monitor, Prometheus). State
// that any coordinator could tell, as members, shards and lag, is the monitor's, so that a sum
// over coordinators counts nothing twice.
//
// It looks from outside: the loop tells what it has carried out, and what lies between the
// layers is wrapped (Store, Reshardings, Catalog, Views). The core knows nothing of it.
//
// Non-obvious:
//   - A stream and group become labels when something was carried out for them; what fails for a
//     name that nobody knows is counted under "none". A group that is deleted, here or elsewhere,
//     loses its series at the next sweep at the latest.
//   - Every series carries the label coordinator, the id of this start.
package metrics
