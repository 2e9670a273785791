package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Parts of paths.
const (
	monitoring  = "/monitoring"
	groupRoute  = monitoring + "/streams/{" + streamParameter + "}/groups/{" + groupParameter + "}"
	shardRoute  = groupRoute + "/shards/{" + shardParameter + "}"
	grafana     = monitoring + "/grafana"
	streamRoute = monitoring + "/stream"
	systemRoute = "/internal/system"
)

// api holds what the handlers share; it does not change after New.
type api struct {
	Config
	Deps

	answers httpx.Answers
}

// handler serves one endpoint; the context carries the endpoint's time limit. What it returns
// is answered with 200.
type handler func(ctx context.Context, r *http.Request) (any, error)

// New returns the monitor's API. It holds no goroutines and needs no closing; deps.Gate and
// deps.Feed are closed by whoever ends the process.
func New(config Config, deps Deps) http.Handler {
	if deps.Gate == nil {
		deps.Gate = httpx.NewGate()
	}
	if deps.Guard == nil {
		deps.Guard = &Guard{}
	}
	deps.Log = httpx.Logger(deps.Log)
	a := &api{Config: config.withDefaults(), Deps: deps, answers: httpx.NewAnswers(deps.Log)}

	root := chi.NewRouter()
	root.Use(httpx.Identify, deps.Tracing.Handler(traced()), httpx.AccessLog(deps.Log, levelOf), a.answers.Recover, a.guardPath)
	root.NotFound(a.notFound)
	root.MethodNotAllowed(a.methodNotAllowed)
	root.Get("/healthz", a.read(a.live))
	root.Get("/readyz", a.read(a.ready))
	root.Get("/version", a.read(a.version))
	root.Route(a.BasePath, a.routes)
	return root
}

// routes is the table of endpoints below the base path (wire contract, Who serves what).
// Each has its own guard, as a router knows the names of a path only there.
func (a *api) routes(base chi.Router) {
	guarded := base.With(a.Gate.Handler(a.answers), a.guarded)
	narrowed := base.With(a.Gate.Handler(a.answers), a.narrowed)
	narrowed.Get(monitoring+"/groups", a.read(a.groups))
	guarded.Get(groupRoute, a.read(a.group))
	guarded.Get(groupRoute+"/members", a.read(a.members))
	guarded.Get(groupRoute+"/assignments", a.read(a.assignments))
	guarded.Get(groupRoute+"/migrations", a.read(a.migrations))
	guarded.Get(groupRoute+"/consumption", a.read(a.consumption))
	guarded.Get(groupRoute+"/offsets", a.read(a.offsets))
	guarded.Get(shardRoute+"/messages", a.read(a.messagePage))
	guarded.Get(shardRoute+"/pending", a.read(a.pending))

	narrowed.Get(grafana+"/groups", a.read(a.grafanaGroups))
	guarded.Get(grafana+"/shards", a.read(a.grafanaShards))
	guarded.Get(grafana+"/members", a.read(a.grafanaMembers))
	guarded.Get(grafana+"/assignments", a.read(a.grafanaAssignments))
	guarded.Get(grafana+"/messages", a.read(a.grafanaMessages))
	narrowed.Get(grafana+"/options/streams", a.read(a.streamOptions))
	narrowed.Get(grafana+"/options/consumer-groups", a.read(a.groupOptions))
	guarded.Get(grafana+"/options/shards", a.read(a.shardOptions))

	base.With(a.Gate.Handler(a.answers), a.guardedWhole).Get(systemRoute, a.read(a.system))

	// A stream lasts: it does not stand behind the gate, which waits for what is inside.
	base.With(a.narrowed).Get(streamRoute, a.stream)
}

// read serves an endpoint within the time limit.
func (a *api) read(serve handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.CallTimeout)
		defer cancel()
		said, err := serve(ctx, r)
		switch {
		case err == nil:
			a.answers.JSON(w, r, http.StatusOK, said)
		case outOfTime(ctx, err):
			a.answers.Error(w, r, protocol.Errorf(protocol.CodeStoreUnavailable, "not answered in time").Because(err))
		default:
			a.answers.Error(w, r, err)
		}
	}
}

// outOfTime reports whether err only says that ctx has ended: the time limit, or a caller
// who has gone away and reads no answer.
func outOfTime(ctx context.Context, err error) bool {
	var refusal *protocol.Error
	return ctx.Err() != nil && !errors.As(err, &refusal) &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	a.answers.Error(w, r, protocol.Errorf(protocol.CodeNotFound, "there is no such endpoint"))
}

// methodNotAllowed answers for every endpoint alike: nothing here changes anything.
func (a *api) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodGet)
	a.answers.Error(w, r, protocol.Errorf(protocol.CodeMethodNotAllowed, "this endpoint does not take %q", protocol.Echo(r.Method)))
}

// levelOf keeps what dashboards ask for again and again out of the normal log.
func levelOf(_ *http.Request, status int) slog.Level {
	if status >= http.StatusInternalServerError {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// look returns the newest look, or a refusal before the first one.
func (a *api) look() (Look, error) {
	found, there := a.Source.Look()
	if !there {
		return Look{}, errNothingYet()
	}
	return found, nil
}

func errNothingYet() error {
	return protocol.Errorf(protocol.CodeStoreUnavailable, "nothing has been observed yet, the first round is under way")
}
