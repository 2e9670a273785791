package reshard

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// Service takes what operators ask for: it writes the decision into the stream's record,
// and the driver carries it out. It is safe for concurrent use.
type Service struct {
	cfg     Config
	records records.Records
	groups  Groups
	shards  Shards  // nil when provisioning is off
	driver  *Driver // nil when provisioning is off
	nonce   func() string
}

// NewService returns a service. driver and shards are nil when provisioning is off: then
// nothing can be scaled. nonce returns fresh resharding ids.
func NewService(cfg Config, kept records.Records, groups Groups, shards Shards, driver *Driver, nonce func() string) *Service {
	return &Service{cfg: cfg, records: kept, groups: groups, shards: shards, driver: driver, nonce: nonce}
}

// Scale begins a resharding (L1). A stream that has the count already answers the noop
// resharding. STREAM_NOT_FOUND; ACTIVE_MIGRATION_EXISTS; METADATA_SYNC_IN_PROGRESS while a
// group is in a correction round (M5); METADATA_MISSING and METADATA_CORRUPT when a group
// cannot copy a layout; REDIS_NOT_CONFIGURED when provisioning is off.
func (s *Service) Scale(ctx context.Context, prefix string, req protocol.ScaleRequest) (protocol.StreamScaleResponse, error) {
	var answer protocol.StreamScaleResponse
	err := s.change(ctx, prefix, func(e records.Entry) (stream.Stream, error) {
		next, err := s.scaled(ctx, e, req)
		if errors.Is(err, stream.ErrSame) {
			answer = scaleAnswer(e.Stream, noop(e))
			return e.Stream, nil
		}
		if err == nil {
			answer = scaleAnswer(next, *next.Resharding)
		}
		return next, err
	})
	return answer, err
}

// scaled returns the record with the resharding begun.
func (s *Service) scaled(ctx context.Context, e records.Entry, req protocol.ScaleRequest) (stream.Stream, error) {
	if err := s.refuseForgotten(ctx, e.Stream); err != nil {
		return e.Stream, err
	}
	deprecatedAfter := ""
	if req.DeprecatedAfter != nil {
		deprecatedAfter = *req.DeprecatedAfter
	}
	by := orderBy(ctx, req.RequestedBy, req.Reason)
	next, err := e.Stream.Scaled(s.nonce(), *req.TargetShardCount, by, deprecatedAfter, int64(e.Clock))
	if errors.Is(err, stream.ErrSame) {
		return next, err
	}
	if err != nil {
		return next, refusal(e.Stream, err)
	}
	return next, s.refuseUnready(ctx, e.Stream)
}

// Rollback begins to undo a resharding (L8). MIGRATION_NOT_FOUND; ROLLBACK_NOT_ALLOWED
// when it is finished or rolled back already; METADATA_SYNC_IN_PROGRESS.
func (s *Service) Rollback(ctx context.Context, prefix, name, id string, req protocol.RollbackRequest) (protocol.Migration, error) {
	err := s.change(ctx, prefix, func(e records.Entry) (stream.Stream, error) {
		if err := known(e.Stream, name); err != nil {
			return e.Stream, err
		}
		next, err := e.Stream.RollingBack(id, orderBy(ctx, req.RequestedBy, req.Reason), int64(e.Clock))
		if err != nil {
			return next, refusal(e.Stream, err)
		}
		return next, s.refuseInRound(ctx, e.Stream)
	})
	if err != nil {
		return protocol.Migration{}, err
	}
	return s.Migration(ctx, prefix, name, id)
}

// ConfirmDrain takes an operator's word that a removed shard is empty though its lag
// cannot be trusted (L9). DRAIN_NOT_CONFIRMABLE for a shard that is not being removed, or
// where something is unread, pending or missing; MIGRATION_NOT_FOUND.
func (s *Service) ConfirmDrain(ctx context.Context, prefix, name, id string, req protocol.ConfirmDrainRequest) (protocol.Migration, error) {
	err := s.change(ctx, prefix, func(e records.Entry) (stream.Stream, error) {
		if err := known(e.Stream, name); err != nil {
			return e.Stream, err
		}
		next, err := e.Stream.Confirmed(id, *req.ShardIndex, orderBy(ctx, req.RequestedBy, req.Reason), int64(e.Clock))
		if err != nil {
			return next, refusal(e.Stream, err)
		}
		return next, s.refuseFull(ctx, e.Stream, *req.ShardIndex)
	})
	if err != nil {
		return protocol.Migration{}, err
	}
	return s.Migration(ctx, prefix, name, id)
}

// change lets decide write the stream's record under the stream's lease, and wakes the
// driver.
func (s *Service) change(ctx context.Context, prefix string, decide func(e records.Entry) (stream.Stream, error)) error {
	if err := s.off(); err != nil {
		return err
	}
	err := s.records.Alone(ctx, prefix, func(lease store.Lease) error {
		e, err := s.find(ctx, prefix)
		if err != nil {
			return err
		}
		next, err := decide(e)
		if err != nil {
			return err
		}
		return s.records.Save(ctx, &e, next, lease.Token())
	})
	if err == nil {
		s.driver.Wake(prefix)
	}
	return err
}

// off refuses everything where provisioning is off.
func (s *Service) off() error {
	if s.shards != nil {
		return nil
	}
	return protocol.Errorf(protocol.CodeRedisNotConfigured,
		"shard counts cannot be changed: provisioning.enabled is false on this coordinator")
}

// find reads a stream's record. STREAM_NOT_FOUND when it has no group.
func (s *Service) find(ctx context.Context, prefix string) (records.Entry, error) {
	e, found, err := s.records.Load(ctx, prefix)
	if err == nil && (!found || len(e.Stream.Active()) == 0) {
		err = protocol.Errorf(protocol.CodeStreamNotFound, "there is no stream %q", prefix)
	}
	return e, err
}

// refuseUnready refuses a resharding that a group could not follow now.
func (s *Service) refuseUnready(ctx context.Context, record stream.Stream) error {
	for _, name := range record.Active() {
		v, err := s.groups.View(ctx, store.Key{Stream: record.Prefix, Group: name})
		if errors.Is(err, store.ErrNotFound) {
			return protocol.Errorf(protocol.CodeMetadataMissing,
				"the metadata of group %q of stream %q is gone; create the group again first", name, record.Prefix).Because(err)
		}
		if err != nil {
			return loop.Fault(err)
		}
		if err := inRound(v.Group); err != nil {
			return err
		}
	}
	return nil
}

// refuseForgotten refuses while there are shards that the record has forgotten with its lost
// writes: a scale-in below them would leave them behind sealed ones, where nobody looks (L1).
// The driver takes them in.
func (s *Service) refuseForgotten(ctx context.Context, record stream.Stream) error {
	if s.shards == nil || record.Resharding != nil {
		return nil
	}
	end, err := s.shards.Beyond(ctx, record.Prefix, record.ReadCount(), record.CreatedAt)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeStoreUnavailable, "it cannot be seen whether stream %q has forgotten shards", record.Prefix).Because(err)
	case end == record.ReadCount():
		return nil
	}
	s.driver.want(record.Prefix, errand{fell: true})
	return protocol.Errorf(protocol.CodeMetadataSyncInProgress,
		"stream %q has lost writes: it is routed to %d shards and there are %d; try again when they are taken in",
		record.Prefix, record.ShardCount, end)
}

// refuseInRound refuses while a group that can be read is in a correction round (M5).
func (s *Service) refuseInRound(ctx context.Context, record stream.Stream) error {
	for _, name := range record.Active() {
		v, err := s.groups.View(ctx, store.Key{Stream: record.Prefix, Group: name})
		if err != nil {
			continue // a group that cannot be read is what one may want to roll back for
		}
		if err := inRound(v.Group); err != nil {
			return err
		}
	}
	return nil
}

func inRound(g *group.Group) error {
	if g.Round == nil {
		return nil
	}
	return protocol.Errorf(protocol.CodeMetadataSyncInProgress,
		"group %q of stream %q is in a correction round, try again when its members agree", g.ConsumerGroup, g.StreamPrefix)
}

// refuseFull refuses to confirm a shard that more than the lag speaks against (L9).
func (s *Service) refuseFull(ctx context.Context, record stream.Stream, index int) error {
	found, err := s.shards.Prove(ctx, record.Prefix, []int{index}, record.Active())
	if err != nil {
		return protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of stream %q cannot be looked at: %v", index, record.Prefix, err).Because(err)
	}
	if f := vouched(found[0], protocol.ProofConfirmed); f.Reason != "" {
		return protocol.Errorf(protocol.CodeDrainNotConfirmable,
			"shard %d of stream %q is %s for group %q; that takes reading, not confirming", index, record.Prefix, f.Reason, f.BlockingGroup)
	}
	return nil
}

// known refuses a group that the stream does not have.
func known(record stream.Stream, name string) error {
	if g, found := record.Find(name); !found || g.State != stream.Active {
		return protocol.Errorf(protocol.CodeGroupNotFound, "stream %q has no group %q", record.Prefix, name)
	}
	return nil
}

// refusal says in the API's words why a transition was refused.
func refusal(record stream.Stream, err error) error {
	switch {
	case errors.Is(err, stream.ErrActive):
		return records.Resharding(record).Because(err)
	case errors.Is(err, stream.ErrUnfinished):
		return protocol.Errorf(protocol.CodeStateVersionConflict,
			"a group of stream %q is being created or deleted; repeat that request to complete it", record.Prefix).Because(err)
	case errors.Is(err, stream.ErrNoResharding):
		return protocol.Errorf(protocol.CodeMigrationNotFound, "stream %q has no resharding of that id", record.Prefix).Because(err)
	case errors.Is(err, stream.ErrOver):
		return protocol.Errorf(protocol.CodeRollbackNotAllowed,
			"the resharding of stream %q is finished or being rolled back; scale the stream instead", record.Prefix).Because(err)
	case errors.Is(err, stream.ErrNotRemoved):
		return protocol.Errorf(protocol.CodeDrainNotConfirmable,
			"that shard of stream %q is not being removed, or is proven empty", record.Prefix).Because(err)
	default:
		return fmt.Errorf("change stream %s: %w", record.Prefix, err)
	}
}

// orderBy is an operator's order with the request that ctx belongs to.
func orderBy(ctx context.Context, requestedBy, reason string) stream.Order {
	return stream.Order{RequestedBy: requestedBy, Reason: reason, RequestID: httpx.RequestID(ctx)}
}

// noop is the resharding that changes nothing.
func noop(e records.Entry) stream.Resharding {
	return stream.Resharding{
		ID: protocol.NoopReshardingID, From: e.Stream.ShardCount, To: e.Stream.ShardCount, Phase: stream.PhaseDeprecated,
		CreatedAt: int64(e.Clock), UpdatedAt: int64(e.Clock),
	}
}

func scaleAnswer(record stream.Stream, r stream.Resharding) protocol.StreamScaleResponse {
	return protocol.StreamScaleResponse{
		StreamPrefix: record.Prefix, TargetShardCount: r.To, AffectedConsumerGroups: record.Active(),
		Migrations: []protocol.Migration{views.Migration(r)},
	}
}
