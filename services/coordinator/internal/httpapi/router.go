package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Parts of paths.
const (
	streamRoute     = "/streams/{" + streamParameter + "}"
	groupRoute      = streamRoute + "/groups/{" + groupParameter + "}"
	memberRoute     = "/members/{" + memberParameter + "}"
	reshardingRoute = "/migrations/{" + reshardingParameter + "}"
	heartbeatRoute  = memberRoute + "/heartbeat"
	snapshotRoute   = "/internal/groups"
	systemRoute     = "/internal/system"
)

// api holds what the handlers share; it does not change after New.
type api struct {
	Config
	Deps

	answers    httpx.Answers
	heartbeats *httpx.Decoder[protocol.HeartbeatRequest]
}

// answer is what a handler has to say when it does not refuse.
type answer struct {
	status int
	body   any
}

// handler serves one endpoint; the context carries the endpoint's time limit.
type handler func(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error)

// New returns the coordinator's API. It holds no goroutines and needs no closing;
// deps.Gate is closed by whoever ends the process.
func New(config Config, deps Deps) http.Handler {
	if deps.Gate == nil {
		deps.Gate = httpx.NewGate()
	}
	if deps.Guard == nil {
		deps.Guard = &Guard{}
	}
	a := &api{
		Config: config.withDefaults(), Deps: deps,
		answers: httpx.NewAnswers(deps.Log), heartbeats: heartbeatBody(),
	}

	root := chi.NewRouter()
	root.Use(httpx.Identify, deps.Tracing.Handler(traced(a.BasePath)), httpx.AccessLog(deps.Log, levelOf), a.answers.Recover, a.guardPath)
	root.NotFound(a.notFound)
	root.MethodNotAllowed(a.methodNotAllowed(root))
	root.Get("/healthz", a.read(a.live))
	root.Get("/readyz", a.read(a.ready))
	root.Get("/version", a.read(a.version))
	root.Route(a.BasePath, a.routes)
	return root
}

// routes is the table of endpoints below the base path. Health and compatibility are
// answered while the process terminates, all else is refused (storage design, Failure).
// Changes, settings and what members ask for are guarded; other reads are open, as the port is
// for the inside (gateway, Authentication).
func (a *api) routes(base chi.Router) {
	base.Get("/monitoring/health", a.read(a.health))
	base.Get("/monitoring/compatibility", a.read(a.compatibility))
	base.Group(func(r chi.Router) {
		r.Use(a.Gate.Handler(a.answers))
		a.streamRoutes(r)
		a.groupRoutes(r)
		r.With(a.guarded(demand{roles: auth.Write})).Post("/admin/repair-index", a.repairIndex())

		r.Get(snapshotRoute, a.read(a.snapshots))
		r.With(a.guarded(demand{roles: auth.Read})).Get(systemRoute, a.read(a.system))
		r.Get("/monitoring/groups", a.read(a.groups))
		r.Get("/monitoring"+groupRoute, a.read(a.group))
		r.Get("/monitoring"+groupRoute+"/members", a.read(a.members))
		r.Get("/monitoring"+groupRoute+"/assignments", a.read(a.assignments))
		r.Get("/monitoring"+groupRoute+"/migrations", a.read(a.migrations))
	})
}

func (a *api) streamRoutes(r chi.Router) {
	r.Get("/streams", a.read(a.streams))
	r.Get(streamRoute, a.read(a.stream))

	change := r.With(a.guarded(demand{roles: auth.Write}))
	change.Post(streamRoute, a.createStream())
	change.Delete(streamRoute, a.deleteStream())
	change.Post(streamRoute+"/scale", a.scaleStream())
}

func (a *api) groupRoutes(r chi.Router) {
	r.Get(groupRoute, a.read(a.group))
	r.Get(groupRoute+"/events", a.read(a.events))
	r.Get(groupRoute+reshardingRoute, a.read(a.migration))

	change := r.With(a.guarded(demand{roles: auth.Write}))
	change.Post(groupRoute, a.createGroup())
	change.Delete(groupRoute, a.deleteGroup())
	change.Post(groupRoute+"/scale", a.scaleGroup())
	change.Post(groupRoute+reshardingRoute+"/rollback", a.rollback())
	change.Post(groupRoute+reshardingRoute+"/confirm-drain", a.confirmDrain())
	change.Post(groupRoute+"/barrier", a.barrier())
	change.Post(groupRoute+memberRoute+"/fence", a.fence())

	r.With(a.guarded(demand{roles: auth.Member, member: true})).Post(groupRoute+heartbeatRoute, a.read(a.heartbeat))
	r.With(a.guarded(demand{roles: auth.Member | auth.Read, member: true})).
		Get(groupRoute+"/producer-routing", a.read(a.routing))
}

func (a *api) read(serve handler) http.HandlerFunc { return a.within(a.CallTimeout, serve) }

// within serves an endpoint with a time limit for what it asks below.
func (a *api) within(limit time.Duration, serve handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		said, err := serve(ctx, w, r)
		switch {
		case err == nil && said.status == http.StatusNotModified:
			w.WriteHeader(said.status)
		case err == nil:
			a.answers.JSON(w, r, said.status, said.body)
		case outOfTime(ctx, err):
			a.answers.Error(w, r, protocol.Errorf(protocol.CodeStoreUnavailable, "not answered in time").Because(err))
		default:
			a.answers.Error(w, r, err)
		}
	}
}

// outOfTime reports whether err only says that ctx has ended: the time limit, or a
// caller who has gone away and reads no answer.
func outOfTime(ctx context.Context, err error) bool {
	var refusal *protocol.Error
	return ctx.Err() != nil && !errors.As(err, &refusal) &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	a.answers.Error(w, r, protocol.Errorf(protocol.CodeNotFound, "there is no such endpoint"))
}

func (a *api) methodNotAllowed(root chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			if root.Match(chi.NewRouteContext(), method, r.URL.EscapedPath()) {
				allowed = append(allowed, method)
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		a.answers.Error(w, r, protocol.Errorf(protocol.CodeMethodNotAllowed, "this endpoint does not take %q", protocol.Echo(r.Method)))
	}
}

// levelOf keeps heartbeats, one a second and member, out of the normal log.
func levelOf(r *http.Request, status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelWarn
	case strings.HasSuffix(r.Pattern, heartbeatRoute), strings.HasSuffix(r.Pattern, snapshotRoute): // members and monitors ask all the time
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
