package redisproc

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports lie below the range from which the kernel serves outgoing connections:
// a killed server must find its own port free when it comes back.
const (
	firstPort = 12_000
	lastPort  = 32_000
	portTries = 200
)

// freePort returns a loopback port nobody listens on. Another process may still
// take it before redis-server does; Start then notices and tries another one.
func freePort(t testing.TB) string {
	t.Helper()
	var listen net.ListenConfig
	for range portTries {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort))
		l, err := listen.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue
		}
		_ = l.Close()
		return port
	}
	t.Fatalf("no free loopback port between %d and %d in %d tries", firstPort, lastPort, portTries)
	return ""
}
