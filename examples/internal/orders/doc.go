// Package orders is what the producer and the consumer of the orders example share: the
// record on the wire, the settings that name coordinator, Redis and stream, and the client
// that is made of them.
package orders
