package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// momentsKept is how many rounds a line shows.
	momentsKept = 60
	// sparkWidth and sparkHeight are the drawing's units.
	sparkWidth, sparkHeight = 118, 22
)

// Moment is what one round told of a group.
type Moment struct {
	Lag                *int64
	Produced, Consumed *float64
}

// remember adds the round to the past of the one group that is followed.
func (s *Scene) remember() {
	if len(s.Groups) != 1 {
		s.Past = nil
		return
	}
	for _, row := range s.Groups {
		past := make([]Moment, 0, momentsKept)
		past = append(past, s.Past[max(0, len(s.Past)-momentsKept+1):]...)
		past = append(past, momentOf(row))
		s.Past = past
	}
}

func momentOf(row protocol.GrafanaGroupRow) Moment {
	return Moment{row.TotalLag, row.ProducedPerSecond, row.ConsumedPerSecond}
}

// Spark is a line of numbers as an SVG polyline's points, one list for each stretch without
// an unknown value; empty where there is nothing to draw.
type Spark []string

// sparkOf draws values from the left to the right, between their lowest and highest.
func sparkOf(values []*float64) Spark {
	low, high, known := bounds(values)
	switch {
	case known < 2:
		return nil
	case low == high && known == len(values): // looks the same however long it goes on
		return Spark{"0," + strconv.Itoa(sparkHeight) + " " + strconv.Itoa(sparkWidth) + "," + strconv.Itoa(sparkHeight)}
	}
	var drawn Spark
	var stretch []string
	end := func() {
		if len(stretch) > 1 {
			drawn = append(drawn, strings.Join(stretch, " "))
		}
		stretch = nil
	}
	for i, value := range values {
		if value == nil {
			end()
			continue
		}
		stretch = append(stretch, strconv.Itoa(i*sparkWidth/(len(values)-1))+","+strconv.Itoa(heightOf(*value, low, high)))
	}
	end()
	return drawn
}

// heightOf counts from the top. Only halves are subtracted, so that no two numbers are too far
// apart.
func heightOf(value, low, high float64) int {
	if low == high {
		return sparkHeight
	}
	return sparkHeight - int((value/2-low/2)/(high/2-low/2)*sparkHeight)
}

func bounds(values []*float64) (low, high float64, known int) {
	for _, value := range values {
		if value == nil {
			continue
		}
		if known == 0 {
			low, high = *value, *value
		}
		low, high, known = min(low, *value), max(high, *value), known+1
	}
	return low, high, known
}

// series picks one number of each moment.
func series(past []Moment, of func(Moment) *float64) []*float64 {
	values := make([]*float64, len(past))
	for i, moment := range past {
		values[i] = of(moment)
	}
	return values
}
