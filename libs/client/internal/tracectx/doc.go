// Package tracectx carries trace contexts over the edges of the SDK: into the fields of a
// record and out of them again, and into the headers of a request, always in the format of
// W3C Trace Context and never with baggage.
//
// What it reads was written by others. A value that is no trace context, or is longer than
// any that this package writes, counts as absent; it is never an error, as no record may be
// lost by it (data-plane, Observability).
package tracectx
