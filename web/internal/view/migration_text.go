package view

import (
	"cmp"

	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// known returns a text, or what stands for one that nobody knows.
func known(text string) string { return cmp.Or(text, model.Unknown) }
