package client

import (
	"fmt"
	"os"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// DefaultMemberID returns podIP when it may be a member id, else the name of the host, else
// a fresh ULID. Applications on Kubernetes give it the address of their pod.
func DefaultMemberID(podIP string) string {
	if protocol.CheckMemberID(podIP) == nil {
		return podIP
	}
	if host, err := os.Hostname(); err == nil && protocol.CheckMemberID(host) == nil {
		return host
	}
	return strings.ToLower(ulid.Make().String())
}

// memberIDs returns the ids of the members of a subscription with its defaults.
func memberIDs(sub Subscription) ([]string, error) {
	base := sub.MemberID
	if base == "" {
		base = DefaultMemberID("")
	}
	ids := make([]string, 0, sub.Concurrency)
	for number := range sub.Concurrency {
		id := fmt.Sprintf("%s-m%d", base, number)
		if sub.Concurrency == 1 && sub.MemberID != "" {
			id = base
		}
		if err := protocol.CheckMemberID(id); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalidSubscription, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
