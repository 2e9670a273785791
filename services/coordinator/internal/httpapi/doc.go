// Package httpapi is the coordinator's HTTP face: it routes, reads and checks requests,
// asks the layer below, and answers in the shapes of the wire contract.
//
// Everything that can be refused by looking at the request alone is refused here, so
// that no malformed name, size or report reaches the group protocol (protocol R5, wire
// contract). What is decided by state - epochs, members, layouts - is decided below and
// comes back as an answer or as a *protocol.Error.
//
// File map: router.go is the table of endpoints; guard.go with verified.go asks who calls;
// path.go and names.go guard paths;
// heartbeat.go with heartbeatcheck.go and report.go take heartbeats; mutation.go is the
// common form of all mutations, mutationcheck.go their checks, and catalog.go, reshard.go
// and repair.go are the mutations; views.go, snapshot.go, events.go, routing.go, health.go
// and compatibility.go answer reads, with tag.go where the caller may have the answer already;
// complete.go keeps null out of lists and maps.
package httpapi
