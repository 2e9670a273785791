package process

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// healthTimeout bounds one question after the health of a process.
	healthTimeout = 5 * time.Second
	// mostReason bounds what is shown of an answer, in bytes.
	mostReason = 500
)

// Ready asks the process that listens on the address of a setting, host:port, whether it is
// ready, and returns nil when it is. An empty or unspecified host is asked on the loopback.
// It is what --health does: images without a shell have nothing else that could ask.
func Ready(ctx context.Context, listen string) error {
	address, err := dialable(listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask %s for its health: %w", address, err)
	}
	// Neither a proxy of the environment nor a kept connection.
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(ask)
	if err != nil {
		return fmt.Errorf("nobody answers on %s: %w", address, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	reason, _ := io.ReadAll(io.LimitReader(answer.Body, mostReason))
	return fmt.Errorf("not ready, %s answers %s: %s", address, answer.Status, strings.TrimSpace(string(reason)))
}

// dialable returns where a process that listens on the address can be reached from its own
// machine.
func dialable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	switch {
	case err != nil:
		return "", fmt.Errorf("listening address %q is not host:port", listen)
	case port == "" || port == "0":
		return "", fmt.Errorf("listening address %q has no port that could be asked; health needs a fixed one", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port), nil
}
