package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The words of HealthResponse.Redis and HealthResponse.Loop beside UP.
const (
	stateDown     = "DOWN"
	stateDisabled = "DISABLED"
	stateStopped  = "STOPPED"
)

// health tells how the process is doing (storage design, Failure).
type health struct {
	app         *App
	store       store.Store
	permissions *redisx.Permissions // nil without Redis
}

// Health implements httpapi.Health. DEGRADED means that something does not work for
// somebody: the store, Redis, a group that fails closed (protocol M6), or that the process
// is ending. Problems also carry what may go wrong, with the status left UP.
func (h *health) Health(ctx context.Context) protocol.HealthResponse {
	response := protocol.HealthResponse{
		Status: protocol.HealthUp, CoordinatorID: h.app.id, Redis: stateDisabled, Loop: h.loopState(), Problems: []string{},
	}
	degraded := h.app.loop.Problems()
	if h.app.driver != nil {
		degraded = append(degraded, h.app.driver.Problems()...)
	}
	if fault := h.storeFault(ctx); fault != nil {
		degraded = append(degraded, fault.Message)
	}
	if h.app.redis != nil {
		response.Redis = protocol.HealthUp
		if problem := h.redisFault(ctx); problem != "" {
			response.Redis = stateDown
			degraded = append(degraded, problem)
		} else if lacking := h.lacks(ctx, h.permissions.Problem); lacking != "" {
			degraded = append(degraded, lacking)
		}
	}
	if h.app.gate.Closed() {
		degraded = append(degraded, "this coordinator is ending")
	}
	if len(degraded) > 0 {
		response.Status = protocol.HealthDegraded
	}
	response.Problems = append(response.Problems, degraded...)
	response.Problems = append(response.Problems, h.warnings(ctx, response.Redis)...)
	return response
}

// Ready implements httpapi.Health: a coordinator without its store, without the Redis
// that it provisions, or that was never allowed what it needs there, should get no requests.
func (h *health) Ready(ctx context.Context) error {
	fault := h.storeFault(ctx)
	if fault == nil || redisx.StateOf(fault) == redisx.StateNoPerm {
		if problem := h.unusable(ctx); problem != "" {
			return protocol.Errorf(protocol.CodeStoreUnavailable, "%s", problem)
		}
	}
	if fault != nil {
		return fault
	}
	if err := h.app.peers.Ready(); err != nil {
		return protocol.Errorf(protocol.CodeStoreUnavailable, "%v", err)
	}
	return nil
}

// unusable names what keeps Redis from being used at all.
func (h *health) unusable(ctx context.Context) string {
	if h.app.redis == nil {
		return ""
	}
	if problem := h.lacks(ctx, h.permissions.Unready); problem != "" {
		return problem
	}
	return h.redisFault(ctx)
}

// storeFault asks the store for its clock; nil when it answers.
func (h *health) storeFault(ctx context.Context) *protocol.Error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := h.store.Ping(ctx)
	if err == nil {
		return nil
	}
	if fault := h.postgresFault(err); fault != nil {
		return fault
	}
	if fault, ok := errors.AsType[*protocol.Error](loop.Fault(err)); ok {
		return fault
	}
	return protocol.Errorf(protocol.CodeStoreUnavailable, "the metadata store does not answer").Because(err)
}

// redisFault names why Redis does not work; the text of the error stays inside, unless it is
// about the user or its permissions, which are to be set right.
func (h *health) redisFault(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := h.app.redis.Ping(ctx).Err()
	if state := redisx.StateOf(err); state == redisx.StateNoPerm {
		return fmt.Sprintf("Redis does not let this coordinator in (%s): %v; see redis.username, redis.password and docs/redis-acl.md", state, err)
	} else if state != redisx.StateOK {
		return fmt.Sprintf("Redis does not work now (%s)", state)
	}
	return ""
}

// lacks asks what the Redis user may not do.
func (h *health) lacks(ctx context.Context, ask func(context.Context) string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return ask(ctx)
}

func (h *health) warnings(ctx context.Context, redisState string) []string {
	if redisState != protocol.HealthUp {
		return nil
	}
	warning, err := evictionWarning(ctx, h.app.redis)
	if err != nil || warning == "" {
		return nil
	}
	return []string{warning}
}

func (h *health) loopState() string {
	switch {
	case !h.app.cfg.Coordination.EventLoop.Enabled:
		return stateDisabled
	case !h.app.ticking.Load():
		return stateStopped
	default:
		return protocol.HealthUp
	}
}
