package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	// maxIdle bounds the unused connections that are kept to one instance.
	maxIdle = 1024
	// maxHead bounds the head of an upstream's answer, in bytes.
	maxHead = 64 << 10
)

// Proxy is the last stage of the pipeline. It is safe for concurrent use.
type Proxy struct {
	timeouts    Timeouts
	legacyRetry bool
	now         func() time.Time
	answers     httpx.Answers
	credentials *credentials
	courier     *courier
	reports     reports
	reverse     *httputil.ReverseProxy
	serve       http.Handler

	// streams lives until answers without an end are to end.
	streams    context.Context
	endStreams context.CancelFunc
}

// New returns a proxy, or an error that names every upstream that cannot be one.
func New(config Config, deps Deps) (*Proxy, error) {
	config = config.withDefaults()
	log := httpx.Logger(deps.Log)
	if deps.Failed == nil {
		deps.Failed = func(route.Service, string) {}
	}
	pools, err := poolsOf(config)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		timeouts: config.Timeouts, legacyRetry: config.LegacyRetry, now: deps.Now, answers: deps.Answers, reports: newReports(),
		credentials: &credentials{ring: deps.Ring, now: deps.Now, kept: make(map[holder]kept)},
		courier:     &courier{pools: pools, transport: transportOf(config), now: deps.Now, log: log, told: deps.Failed, tracing: deps.Tracing},
	}
	p.streams, p.endStreams = context.WithCancel(context.Background())
	p.reverse = &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the request is written anew before
		Transport: p.courier, BufferPool: newBuffers(), ErrorHandler: p.refuse,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	p.serve = p.Legacy(http.HandlerFunc(p.forward))
	return p, nil
}

func poolsOf(config Config) (map[route.Service]*pool, error) {
	pools := make(map[route.Service]*pool)
	var problems []error
	if config.MaxInFlight < 0 {
		problems = append(problems, fmt.Errorf("requests under way at an instance cannot be %d", config.MaxInFlight))
	}
	for service, urls := range config.Upstreams {
		if service == route.Gateway && len(urls) > 0 {
			problems = append(problems, errors.New("the gateway is no upstream of itself"))
		}
		of := &pool{service: service}
		for i, text := range urls {
			base, err := parseUpstream(text)
			if err != nil {
				problems = append(problems, fmt.Errorf("upstream %d of the %s: %w", i+1, service, err))
				continue
			}
			of.instances = append(of.instances, &instance{base: base, most: int64(config.MaxInFlight)})
		}
		if len(of.instances) > 0 {
			pools[service] = of
		}
	}
	return pools, errors.Join(problems...)
}

// transportOf returns the connections to upstreams. No proxy of the environment stands
// between, and nothing is compressed or decompressed.
func transportOf(config Config) *http.Transport {
	dialer := &net.Dialer{Timeout: config.Timeouts.Connect}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: config.Timeouts.Connect,
		MaxIdleConnsPerHost: min(config.MaxInFlight, maxIdle), IdleConnTimeout: config.Timeouts.Idle,
		DisableCompression: true, MaxResponseHeaderBytes: maxHead, Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(!config.H2C)
	transport.Protocols.SetUnencryptedHTTP2(config.H2C)
	transport.Protocols.SetHTTP2(config.H2C)
	return transport
}

// EndStreams ends the answers without an end, and those that begin later at once: a gateway that
// terminates does not wait for them, and who follows comes back to another one.
func (p *Proxy) EndStreams() { p.endStreams() }

// Close ends the answers without an end and closes the connections that are not in use.
func (p *Proxy) Close() {
	p.endStreams()
	p.courier.transport.CloseIdleConnections()
}

// ServeHTTP sends on the exchange of r, and passes the answer back.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.serve.ServeHTTP(w, r) }

func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	e := exchange.Of(r.Context())
	authorization, err := p.credentials.header(e, httpx.RequestID(r.Context()))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	wait := p.reports.waitOf(e)
	ctx, answered, cancel := p.bounded(r.Context(), e, p.limitOf(e, wait))
	defer cancel()
	if e.Route.Streams {
		w = &streaming{ResponseWriter: w, each: p.timeouts.StreamWrite, now: p.now}
	}
	out := outgoing(e.Route, r.Header, httpx.RequestID(ctx), authorization)
	if e.Route.Service == route.Web && e.FormToken != "" {
		out.Header.Set(auth.HeaderFormToken, e.FormToken)
	}
	p.reverse.ServeHTTP(w, out.WithContext(withErrand(ctx, &errand{
		exchange: e, ctx: ctx, answered: answered, silence: silenceOf(e, wait),
	})))
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, err error) {
	exchange.Of(r.Context()).Code = codeOf(err)
	p.answers.Error(w, r, err)
}
