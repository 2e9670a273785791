package view

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// sparkBox is the part of the drawing that is shown: all of it, with room for the line's width.
func sparkBox(drawn model.Spark) string {
	return fmt.Sprintf("-1 -1 %d %d", drawn.Width+2, model.SparkHeight+2)
}
