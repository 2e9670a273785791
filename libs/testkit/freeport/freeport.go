// Package freeport gives tests loopback ports for servers that they start as processes.
//
// A port that is free when a test looks may be taken when its server comes: by another test
// that has looked too, of this process or of another one. So a port is held until its test
// ends, by a socket of the same number: who looks for a port holds the UDP port first, which
// no server of the suite uses, and the kernel gives it to one process only. That also keeps
// the port of a server that is away and will be back.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports lie below the range from which the kernel serves outgoing connections: a killed
// server must find its own port free when it comes back.
const (
	first = 10_000
	last  = 32_000
	tries = 500
)

// Take returns a loopback port that nobody listens on and that no other caller of Take gets
// before the test ends, in whatever process. It fails the test when there is none.
func Take(t testing.TB) string {
	t.Helper()
	return take(t, func() int { return first + rand.IntN(last-first) })
}

// take tries the ports that next returns, one after the other.
func take(t testing.TB, next func() int) string {
	t.Helper()
	for range tries {
		port := strconv.Itoa(next())
		if hold(t, port) {
			return port
		}
	}
	t.Fatalf("no free loopback port between %d and %d in %d tries", first, last, tries)
	return ""
}

// hold takes a port for the time of the test and tells whether nobody else has it.
func hold(t testing.TB, port string) bool {
	t.Helper()
	var listen net.ListenConfig
	address := net.JoinHostPort("127.0.0.1", port)
	held, err := listen.ListenPacket(t.Context(), "udp", address)
	if err != nil {
		return false
	}
	l, err := listen.Listen(t.Context(), "tcp", address)
	if err != nil {
		_ = held.Close()
		return false
	}
	_ = l.Close()
	t.Cleanup(func() { _ = held.Close() })
	return true
}
