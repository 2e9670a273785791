package settings

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

// errHeader comes when a header for the receiver of traces cannot be sent.
var errHeader = errors.New("entries must be like name=value, separated by commas")

// Telemetry says whether and where the traces of a service go. The zero value records
// nothing.
type Telemetry struct {
	TracesEndpoint string        `koanf:"traces-endpoint" usage:"URL of an OTLP/HTTP receiver that takes the traces, for example http://collector:4318; empty records none"`
	TracesHeaders  config.Secret `koanf:"traces-headers" usage:"headers for that receiver as name=value,name=value, where it asks for a token"`
	TracesRatio    float64       `koanf:"traces-ratio" usage:"share of the traces that are recorded, 0 to 1; behind the gateway what the gateway has decided holds"`
}

// DefaultTelemetry returns settings that record nothing, and everything once there is an
// endpoint.
func DefaultTelemetry() Telemetry { return Telemetry{TracesRatio: 1} }

// Validate reports every problem of the section and names the keys. It does not repeat the
// endpoint or the headers, which may hold a password.
func (t Telemetry) Validate() error {
	var problems []error
	if t.TracesEndpoint != "" {
		_, err := t.Endpoint()
		problems = append(problems, err)
	}
	if _, err := t.Headers(); err != nil {
		problems = append(problems, err)
	}
	if !(t.TracesRatio >= 0 && t.TracesRatio <= 1) {
		problems = append(problems, fmt.Errorf("telemetry.traces-ratio is %v, it must be between 0 and 1", t.TracesRatio))
	}
	return errors.Join(problems...)
}

// Endpoint returns the URL that traces are posted to: that of the settings, with the usual
// path /v1/traces where it has none.
func (t Telemetry) Endpoint() (string, error) {
	at, err := url.Parse(t.TracesEndpoint)
	switch {
	case err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https":
		return "", errors.New("telemetry.traces-endpoint must be an http or https URL, for example http://collector:4318")
	case at.User != nil || at.RawQuery != "" || at.ForceQuery || at.Fragment != "":
		return "", errors.New("telemetry.traces-endpoint must have nothing but scheme, host, port and path;" +
			" a token belongs into telemetry.traces-headers")
	}
	if strings.Trim(at.Path, "/") == "" {
		at.Path = "/v1/traces"
	}
	return at.String(), nil
}

// Headers returns the headers for the receiver by name, nil for none. Errors repeat neither
// names nor values.
func (t Telemetry) Headers() (map[string]string, error) {
	if t.TracesHeaders == "" {
		return nil, nil
	}
	headers := make(map[string]string)
	for entry := range strings.SplitSeq(t.TracesHeaders.Reveal(), ",") {
		name, value, found := strings.Cut(entry, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || !isToken(name) || strings.ContainsFunc(value, control) {
			return nil, fmt.Errorf("telemetry.traces-headers: %w", errHeader)
		}
		headers[http.CanonicalHeaderKey(name)] = value
	}
	return headers, nil
}

// isToken tells whether a text can be the name of a header (RFC 9110).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
