package httpapi

import (
	"context"
	"net/http"
)

func (a *api) groups(ctx context.Context, _ http.ResponseWriter, _ *http.Request) (answer, error) {
	found, err := a.Views.Groups(ctx)
	found.Groups = each(found.Groups, completeGroup)
	return answer{http.StatusOK, found}, err
}

func (a *api) group(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	return viewOf(ctx, a, r, a.Views.Group, completeGroup)
}

func (a *api) members(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	return viewOf(ctx, a, r, a.Views.Members, completeMembers)
}

func (a *api) assignments(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	return viewOf(ctx, a, r, a.Views.Assignments, completeAssignments)
}

func (a *api) migrations(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	return viewOf(ctx, a, r, a.Views.Migrations, completeMigrations)
}

// viewOf answers a view of the group that the path names.
func viewOf[T any](
	ctx context.Context, a *api, r *http.Request,
	view func(ctx context.Context, stream, group string) (T, error), complete func(T) T,
) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := view(ctx, at.stream, at.group)
	return answer{http.StatusOK, complete(found)}, err
}
