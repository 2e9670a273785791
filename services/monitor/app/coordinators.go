package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// coordinators are several coordinators of the same groups, of which one is asked: the one
// that has answered last. Where it does not answer the next one is, within the same time. It
// is safe for concurrent use.
type coordinators struct {
	list []peer
	// last is the place of the one that has answered last.
	last atomic.Int64
	log  *slog.Logger
}

// peer is one coordinator.
type peer struct {
	host   string // for the log
	client *client.Client
	admin  *client.Admin
}

// newCoordinators makes a client for each URL of monitor.coordinator, with options but for the
// URL. It connects to none.
func newCoordinators(setting string, options client.Options, log *slog.Logger) (*coordinators, error) {
	c := &coordinators{log: log}
	for _, text := range urlsOf(setting) {
		options.CoordinatorURL = text
		made, err := client.New(options)
		if err != nil {
			return nil, fmt.Errorf("monitor.coordinator: %w", errors.Join(err, c.close()))
		}
		one := peer{client: made, admin: made.Admin()}
		if parsed, err := url.Parse(text); err == nil {
			one.host = parsed.Host
		}
		c.list = append(c.list, one)
	}
	return c, nil
}

// urlsOf returns the URLs of a comma list.
func urlsOf(setting string) []string {
	urls := strings.Split(setting, ",")
	for i, text := range urls {
		urls[i] = strings.TrimSpace(text)
	}
	return urls
}

func (c *coordinators) close() error {
	var errs []error
	for _, one := range c.list {
		errs = append(errs, one.client.Close())
	}
	return errors.Join(errs...)
}

// GroupSnapshots implements observe.Groups. A tag is that of one coordinator, whose place
// stands before it: the others do not know it.
func (c *coordinators) GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error) {
	var tag string
	never := func(error) bool { return false }
	found, err := ask(ctx, c, never, func(ctx context.Context, place int, admin *client.Admin) (*protocol.GroupSnapshotsResponse, error) {
		own, _ := strings.CutPrefix(etag, placed(place, ""))
		if own == etag {
			own = ""
		}
		answer, given, err := admin.GroupSnapshots(ctx, own)
		tag = placed(place, given)
		return answer, err
	})
	if err != nil {
		return nil, "", err
	}
	return found, tag, nil
}

func placed(place int, tag string) string { return strconv.Itoa(place) + " " + tag }

// Group implements httpapi.Coordinator.
func (c *coordinators) Group(ctx context.Context, stream, group string) (*protocol.GroupResponse, error) {
	return ask(ctx, c, refused, func(ctx context.Context, _ int, admin *client.Admin) (*protocol.GroupResponse, error) {
		return admin.Group(ctx, stream, group)
	})
}

// Members implements httpapi.Coordinator.
func (c *coordinators) Members(ctx context.Context, stream, group string) ([]protocol.MemberMetadata, error) {
	return ask(ctx, c, refused, func(ctx context.Context, _ int, admin *client.Admin) ([]protocol.MemberMetadata, error) {
		return admin.Members(ctx, stream, group)
	})
}

// Assignments implements httpapi.Coordinator.
func (c *coordinators) Assignments(ctx context.Context, stream, group string) (*protocol.AssignmentsResponse, error) {
	return ask(ctx, c, refused, func(ctx context.Context, _ int, admin *client.Admin) (*protocol.AssignmentsResponse, error) {
		return admin.Assignments(ctx, stream, group)
	})
}

// Migrations implements httpapi.Coordinator.
func (c *coordinators) Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error) {
	return ask(ctx, c, refused, func(ctx context.Context, _ int, admin *client.Admin) (*protocol.MigrationsResponse, error) {
		return admin.Migrations(ctx, stream, group)
	})
}

// refused tells whether an error is an answer that any coordinator would give: that a group is
// not there, and not that the store is.
func refused(err error) bool {
	refusal, is := errors.AsType[*protocol.Error](err)
	return is && protocol.FaultOf(refusal.Code).Status < 500
}

// ask asks one coordinator after the other, each once, until one answers, be it with an error
// that is final. Each may take its share of the time that is left, so that one that hangs
// leaves enough for the others.
func ask[T any](
	ctx context.Context, c *coordinators, final func(error) bool, do func(context.Context, int, *client.Admin) (T, error),
) (answer T, err error) {
	last := c.last.Load()
	for n := range c.list {
		place := (int(last) + n) % len(c.list)
		share, cancel := shareOf(ctx, len(c.list)-n)
		answer, err = do(share, place, c.list[place].admin)
		cancel()
		switch {
		case err != nil && !final(err):
			c.log.DebugContext(ctx, "a coordinator does not answer", "coordinator", c.list[place].host, "error", err)
		case n > 0 && c.last.CompareAndSwap(last, int64(place)):
			c.log.InfoContext(ctx, "another coordinator is asked from now on", "coordinator", c.list[place].host, "before", c.list[last].host)
			return answer, err
		default:
			return answer, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(c.list) > 1 {
		err = fmt.Errorf("none of %d coordinators answers, the last one: %w", len(c.list), err)
	}
	return answer, err
}

// shareOf returns a context for one of so many that come after each other.
func shareOf(ctx context.Context, of int) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, clock.Until(end)/time.Duration(of))
}
