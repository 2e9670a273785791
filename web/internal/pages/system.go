package pages

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

const (
	// partTime is how long a part may take for its answer, glanceTime the monitor to tell of its
	// newest round. The page is of what is known then.
	partTime   = 5 * time.Second
	glanceTime = 3 * time.Second
	// systemAgain is after how long the age of the newest round is looked at again.
	systemAgain = 15 * time.Second
)

type systemAPI interface {
	Health(ctx context.Context) (*protocol.HealthResponse, error)
	Compatibility(ctx context.Context) (*protocol.CompatibilityResponse, error)
	Version(ctx context.Context) (*protocol.VersionResponse, error)
	System(ctx context.Context) (*protocol.SystemResponse, error)
}

// system shows how each part of the suite is doing. Parts that do not answer are said not to.
func (p *Pages) system(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	asking, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	known := model.Known{Console: p.cfg.Build}
	var errs [5]error
	var parts sync.WaitGroup
	parts.Go(func() { known.Gateway, errs[0] = part(p.deps.API.Version(asking)) })
	parts.Go(func() { known.Health, errs[1] = part(p.deps.API.Health(asking)) })
	parts.Go(func() { known.Compatibility, errs[2] = part(p.deps.API.Compatibility(asking)) })
	parts.Go(func() { known.Monitor, errs[3] = part(p.glance(asking)) })
	parts.Go(func() { known.System, errs[4] = part(p.deps.API.System(asking)) })
	parts.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return answer{}, err
	}
	page := model.NewSystem(known, p.deps.Now(), Root)
	return answer{body: view.SystemPage(p.frame(r, who, "System", "system"), page)}, nil
}

// part says why there is no answer. It returns an error only where who asks has to log in again.
func part[A any](said *A, err error) (model.Part[A], error) {
	_, refused := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return model.Part[A]{Answer: said}, nil
	case errors.Is(err, client.ErrUnauthorized):
		return model.Part[A]{}, err
	case errors.Is(err, client.ErrForbidden):
		return model.Part[A]{Why: sentence(textOf(err)), Kept: true}, nil
	case refused:
		return model.Part[A]{Why: sentence(textOf(err))}, nil
	default:
		return model.Part[A]{Why: "There was no answer in time, or none of the API's."}, nil
	}
}

// sentence ends a refusal's message as one.
func sentence(text string) string { return text + "." }

// errSeen ends a look at the monitor's events.
var errSeen = errors.New("one event is enough")

// glance returns what the monitor's newest round tells of all groups.
func (p *Pages) glance(ctx context.Context) (*model.Scene, error) {
	ctx, cancel := context.WithTimeout(ctx, glanceTime)
	defer cancel()
	var scene *model.Scene
	var trouble error
	err := p.deps.API.Follow(ctx, client.FollowQuery{OnTrouble: func(err error) {
		trouble = err
		cancel() // the page does not wait until it goes well
	}}, func(update client.Update) error {
		scene = scene.Next(model.Update(update))
		if update.Groups == nil {
			return nil
		}
		return errSeen
	})
	switch {
	case errors.Is(err, errSeen):
		return scene, nil
	case trouble != nil:
		return nil, trouble
	default:
		return nil, err
	}
}

func (p *Pages) systemKept() kept {
	return kept{
		room:    func(*http.Request) room { return room{} },
		allowed: p.overviewKept().allowed,
		every:   systemAgain,
		fragments: func(_ context.Context, _ *http.Request, scene *model.Scene) ([]fragment, error) {
			monitor := model.NewMonitorPart(model.Part[model.Scene]{Answer: scene}, p.deps.Now(), Root)
			return []fragment{{"system-monitor", view.SystemMonitor(monitor)}}, nil
		},
	}
}
