package metrics

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The values of the label status.
const (
	succeeded = "SUCCESS"
	same      = "NOOP"
	failed    = "ERROR"
)

// Reshardings returns inner, with its requests counted.
func (m *Metrics) Reshardings(inner httpapi.Reshardings) httpapi.Reshardings {
	return reshardings{inner, m}
}

type reshardings struct {
	httpapi.Reshardings

	metrics *Metrics
}

// Scale implements httpapi.Reshardings.
func (r reshardings) Scale(ctx context.Context, stream string, req protocol.ScaleRequest) (protocol.StreamScaleResponse, error) {
	done, err := r.Reshardings.Scale(ctx, stream, req)
	r.metrics.refused("scale-stream", err)
	r.metrics.scaled(stream, done, err)
	return done, err
}

// Rollback implements httpapi.Reshardings.
func (r reshardings) Rollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (protocol.Migration, error) {
	done, err := r.Reshardings.Rollback(ctx, stream, group, id, req)
	r.metrics.refused("rollback-migration", err)
	return done, err
}

// scaled counts a request for another shard count. Its group is the stream (contract, metric
// names), also where it came by the name of a group (protocol L1).
func (m *Metrics) scaled(stream string, done protocol.StreamScaleResponse, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		if !m.streams[stream] {
			stream = none
		}
		m.scales.WithLabelValues(stream, stream, failed).Inc()
		m.scalesFailed.WithLabelValues(stream, stream, failed).Inc()
		return
	}
	m.streams[stream] = true
	status := succeeded
	if len(done.Migrations) > 0 && done.Migrations[0].ReshardingID == protocol.NoopReshardingID {
		status = same
	}
	m.scales.WithLabelValues(stream, stream, status).Inc()
}

// Catalog returns inner, with its conflicts counted.
func (m *Metrics) Catalog(inner httpapi.Catalog) httpapi.Catalog { return catalog{inner, m} }

type catalog struct {
	httpapi.Catalog

	metrics *Metrics
}

// DeleteGroup implements httpapi.Catalog.
func (c catalog) DeleteGroup(ctx context.Context, stream, group string, req protocol.DeleteRequest) (protocol.GroupResponse, error) {
	done, err := c.Catalog.DeleteGroup(ctx, stream, group, req)
	c.metrics.refused("delete-group", err)
	return done, err
}

// DeleteStream implements httpapi.Catalog.
func (c catalog) DeleteStream(ctx context.Context, stream string, req protocol.DeleteRequest) (protocol.StreamResponse, error) {
	done, err := c.Catalog.DeleteStream(ctx, stream, req)
	c.metrics.refused("delete-stream", err)
	if err == nil {
		c.metrics.mu.Lock()
		defer c.metrics.mu.Unlock()
		c.metrics.dropStream(stream)
	}
	return done, err
}

// Views returns inner, with what producers ask counted.
func (m *Metrics) Views(inner httpapi.Views) httpapi.Views { return views{inner, m} }

type views struct {
	httpapi.Views

	metrics *Metrics
}

// Routing implements httpapi.Views.
func (v views) Routing(ctx context.Context, stream, group string) (protocol.ProducerRouting, error) {
	found, err := v.Views.Routing(ctx, stream, group)
	v.metrics.routed(store.Key{Stream: stream, Group: group}, err)
	return found, err
}

func (m *Metrics) routed(key store.Key, err error) {
	if err == nil {
		m.know(key)
		m.routings.WithLabelValues(key.Stream, key.Group, succeeded).Inc()
		return
	}
	stream, group := m.labelled(key)
	m.routings.WithLabelValues(stream, group, failed).Inc()
}

// StaleRouting counts a producer whose routing was not the present one any more.
func (m *Metrics) StaleRouting(stream, group string) {
	m.know(store.Key{Stream: stream, Group: group})
	m.routingsStale.WithLabelValues(stream, group).Inc()
}

// refused counts what another coordinator was faster than.
func (m *Metrics) refused(operation string, err error) {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok && refusal.Code == protocol.CodeStateVersionConflict {
		m.Conflict(operation, 1)
	}
}
