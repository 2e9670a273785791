package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// fault is why an instance has not told what it is, for people; the instance is its subject.
type fault string

// Error implements error.
func (f fault) Error() string { return string(f) }

// described reads what an instance of a service tells of itself.
func described(service string, answer *http.Response, body []byte) (*protocol.SystemProcess, error) {
	switch status := answer.StatusCode; {
	case status == http.StatusUnauthorized:
		return nil, fault("does not take this gateway's tokens; its api.jwks-url must be this gateway's /.well-known/jwks.json")
	case status == http.StatusNotFound:
		return nil, fault("does not know how to tell what it is: its version is older, or its api.base-path is another one")
	case codeIn(answer, body) == protocol.CodeTerminating:
		return nil, fault("is terminating")
	case status != http.StatusOK:
		return nil, fault("has answered with status " + strconv.Itoa(status) + "; its log says more")
	case len(body) > maxDescription:
		return nil, fault(fmt.Sprintf("has told more than %d bytes of itself", maxDescription))
	}
	var told protocol.SystemProcess
	if json.Unmarshal(body, &told) != nil || told.Service == "" {
		return nil, fault("has not answered as a " + service + " does; look whether the address is right")
	}
	if told.Service != service {
		return nil, fault("is no " + service + " but says that it is a " + protocol.Echo(told.Service) + "; look whether the address is right")
	}
	if told.Configuration == nil {
		told.Configuration = []protocol.SystemSetting{}
	}
	return &told, nil
}

// untold says why nothing is known of an instance that was asked for at most limit.
func untold(err error, limit time.Duration) string {
	if why, is := errors.AsType[fault](err); is {
		return why.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Sprintf("has not answered within %v; look whether it hangs, and at its log", limit)
	}
	if failed, is := errors.AsType[*net.OpError](err); is && failed.Op == "dial" {
		return "cannot be reached (" + failed.Err.Error() + "); look whether it runs, and whether the address is right"
	}
	return "has broken off; look at its log"
}
