package check

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// requester is who the audit names.
const requester = "smoke"

// Suite is where the suite is, and what should be in it.
type Suite struct {
	// Gateway is its URL, Admin asks its API as a user who may read and change.
	Gateway string
	Admin   *client.Admin
	// Prometheus and Grafana are their URLs; empty leaves their steps out.
	Prometheus, Grafana string
	// Jobs are those of Prometheus whose targets have to answer.
	Jobs []string
	// Stream and Group are those of the producers and consumers that run, of whose members at
	// least Members own shards. Shards is how many a stream gets that is not there.
	Stream, Group   string
	Shards, Members int
	// Trial is the name of a stream that is made and deleted again; nobody else has it.
	Trial string
	// HTTP asks for pages and metrics.
	HTTP *http.Client

	left bool // Trial was made and is not deleted yet
}

// Prepare is the step that makes the stream, unless it is there.
func (s *Suite) Prepare() []Step {
	return []Step{{
		Claim: "the stream " + s.Stream + " is there",
		Next:  "the logs of the gateway and of the coordinators; the user needs the role WRITE",
		Do:    s.ensure,
	}}
}

// Steps are all that a suite with traffic has to stand.
func (s *Suite) Steps() []Step {
	steps := []Step{
		{"the gateway answers, and the suite is healthy", "the logs of the gateway, the coordinators and Redis", s.healthy},
		{"a stream is made through the gateway", "the logs of the gateway and of the coordinators", s.make},
		{"the stream of the traffic is there", "the logs of the coordinators", s.ensure},
		{"the members share its shards", "the logs of the consumers; whether they run, and may log in", s.shared},
		{"records flow through every shard", "the logs of the producer, the consumers and the monitor", s.flow},
		{"more shards, and records flow", "rscctl migrations list " + s.Stream, s.grow},
		{"the old number of shards again, and records flow", "rscctl migrations list " + s.Stream, s.shrink},
		{"the audit has the change", "audit.sink of the gateway: only redis can be asked", s.audited},
		{"the console shows its login", "the logs of the console, and gateway.web of the gateway", s.console},
	}
	if s.Prometheus != "" {
		steps = append(steps, Step{"Prometheus scrapes all parts", "the page " + s.Prometheus + "/targets", s.scraped})
	}
	if s.Grafana != "" {
		steps = append(steps, Step{"Grafana answers", "the logs of Grafana", s.grafana})
	}
	return append(steps, Step{"the stream is deleted again", "the logs of the coordinators", s.delete})
}

// healthy waits for the gateway and for a coordinator behind it that has no complaint.
func (s *Suite) healthy(ctx context.Context) (string, error) {
	return await(ctx, func(ctx context.Context) (string, error) {
		health, err := s.Admin.Health(ctx)
		switch {
		case err != nil:
			return "", err
		case health.Status != protocol.HealthUp:
			return "", fmt.Errorf("health is %s: %s", health.Status, strings.Join(health.Problems, "; "))
		}
		return "coordinator " + health.CoordinatorID + " is " + health.Status, nil
	})
}

func (s *Suite) make(ctx context.Context) (string, error) {
	s.left = true
	return s.create(ctx, s.Trial, 2)
}

func (s *Suite) ensure(ctx context.Context) (string, error) {
	return s.create(ctx, s.Stream, s.Shards)
}

// create makes a stream with the group, unless it is there.
func (s *Suite) create(ctx context.Context, stream string, shards int) (string, error) {
	reason := "smoke test"
	request := protocol.CreateStreamRequest{
		InitialShardCount: &shards, RequestedBy: requester, Reason: &reason, ConsumerGroups: []string{s.Group},
	}
	return await(ctx, func(ctx context.Context) (string, error) {
		_, err := s.Admin.CreateStream(ctx, stream, request)
		if refusal, is := errors.AsType[*protocol.Error](err); err != nil && !(is && refusal.Code == protocol.CodeStreamAlreadyExists) {
			return "", err
		}
		made, err := s.Admin.Stream(ctx, stream)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s has %d shards", stream, made.ShardCount), nil
	})
}

func (s *Suite) delete(ctx context.Context) (string, error) {
	_, err := s.Admin.DeleteStream(ctx, s.Trial, protocol.DeleteRequest{RequestedBy: requester, Reason: "end of the smoke test"})
	if err != nil {
		return "", err
	}
	s.left = false
	return s.Trial + " is gone", nil
}

// Leave deletes the stream of a trial that failed on its way. Where that fails too it is left
// behind, and the error names it.
func (s *Suite) Leave(ctx context.Context) error {
	if !s.left {
		return nil
	}
	if _, err := s.delete(ctx); err != nil {
		return fmt.Errorf("the stream %s is left behind: %w", s.Trial, err)
	}
	return nil
}

// audited waits for the record of the stream that was made.
func (s *Suite) audited(ctx context.Context) (string, error) {
	return await(ctx, func(ctx context.Context) (string, error) {
		page, err := s.Admin.Audit(ctx, client.AuditQuery{StreamPrefix: s.Trial})
		if err != nil {
			return "", err
		}
		for _, record := range page.Records {
			if record.RequestedBy == requester && record.Kind == protocol.AuditOutcome {
				return fmt.Sprintf("%s by %s at %s", record.Operation, record.Principal, record.Time.Format(time.RFC3339)), nil
			}
		}
		return "", fmt.Errorf("the audit has %d records of %s, none with its outcome", len(page.Records), s.Trial)
	})
}
