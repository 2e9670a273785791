package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// maxDescription bounds what an instance tells of itself, in bytes.
const maxDescription = 1 << 20

// surveyed is an instance that is asked, by the name that answers give to its service.
type surveyed struct {
	name string
	by   route.Service
	at   *instance
}

// Survey asks every instance of every service, all at once and each for at most Timeouts.Survey,
// for a path at which it tells what it is and how it is set (monitoring, Console: System). It
// asks in the name of the caller of ctx's exchange. Unlike all else it passes no instance over
// that has failed lately, and an instance's failure here does not count: what is wanted is the
// answer of each. The path is escaped.
func (p *Proxy) Survey(ctx context.Context, path string) []protocol.SystemPart {
	ctx, cancel := context.WithTimeout(ctx, p.timeouts.Survey)
	defer cancel()
	all := p.surveyed()
	parts := make([]protocol.SystemPart, len(all))
	var asking sync.WaitGroup
	for i, one := range all {
		asking.Go(func() { parts[i] = p.describe(ctx, one, path) })
	}
	asking.Wait()
	return parts
}

// surveyed lists the instances in the order of answers.
func (p *Proxy) surveyed() []surveyed {
	var all []surveyed
	for _, service := range []surveyed{
		{name: protocol.ServiceCoordinator, by: route.Coordinator},
		{name: protocol.ServiceMonitor, by: route.Monitor},
		{name: protocol.ServiceConsole, by: route.Web},
	} {
		if of := p.courier.pools[service.by]; of != nil {
			for _, at := range of.instances {
				service.at = at
				all = append(all, service)
			}
		}
	}
	return all
}

func (p *Proxy) describe(ctx context.Context, of surveyed, path string) protocol.SystemPart {
	address := of.at.base.String()
	part := protocol.SystemPart{Service: of.name, Address: &address}
	told, err := p.ask(ctx, of, path)
	if err != nil {
		problem := untold(err, p.timeouts.Survey)
		part.Problem = &problem
		return part
	}
	part.Process = told
	return part
}

func (p *Proxy) ask(ctx context.Context, of surveyed, path string) (*protocol.SystemProcess, error) {
	if !of.at.enter() {
		return nil, fault("has too many requests of this gateway under way; ask again later")
	}
	defer of.at.leave()
	authorization, err := p.credentials.header(&exchange.Exchange{
		Principal: exchange.Of(ctx).Principal, Route: route.Route{Service: of.by},
	}, "")
	if err != nil {
		return nil, err
	}
	to := outgoing(route.Route{Method: http.MethodGet, Path: path}, nil, httpx.RequestID(ctx), authorization).WithContext(ctx)
	to.URL.Scheme, to.URL.Host, to.Host = of.at.base.Scheme, of.at.base.Host, of.at.base.Host
	answer, err := p.courier.transport.RoundTrip(to)
	if err != nil {
		return nil, fmt.Errorf("ask the %s: %w", of.name, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDescription+1))
	if err != nil {
		return nil, fmt.Errorf("read what the %s tells: %w", of.name, err)
	}
	return described(of.name, answer, body)
}
