package model

import (
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// RowSamples is how many samples the line of a row shows.
	RowSamples = 30
	// GroupSamples is how many the lines of a group's page show.
	GroupSamples = protocol.MaxSamples
	// SparkHeight is that of a line, in the units of its drawing.
	SparkHeight = 20
	// sampleWidth is how much of the width one sample takes.
	sampleWidth = 2
)

// Spark is what a value was in the last minutes, as a drawing from 0 to the highest. Its size does
// not depend on what is known.
type Spark struct {
	// Lines are an SVG polyline's points, one list for each stretch without an unknown value.
	Lines []string
	// Width is that of the drawing, in its units; SparkHeight is its height.
	Width int
	// Says is the same in words.
	Says string
}

// sparkOf draws the samples of a value; count is how many there should be, none of samples that are
// nil.
func sparkOf(name string, samples *protocol.Samples, count int, of func(*protocol.Samples) []*float64) Spark {
	drawn := Spark{Width: (count - 1) * sampleWidth, Says: name + " of the last minutes: not known"}
	if samples == nil {
		return drawn
	}
	values := of(samples)
	if len(values) > count { // of a service that gives more than was asked for
		values = values[len(values)-count:]
	}
	first, last, high := known(values)
	if first < 0 {
		return drawn
	}
	drawn.Lines = stretches(values, count-len(values), high)
	span := time.Duration(samples.StepMs) * time.Millisecond * time.Duration(len(values))
	drawn.Says = name + " of the last " + strings.TrimSuffix(Duration(span), " 0 s") + ": up to " + Rate(&high) + ", newest " + Rate(values[last])
	for _, value := range values {
		if value == nil {
			drawn.Says += ", partly not known"
			break
		}
	}
	return drawn
}

// known returns where the first and the last value are that are known, -1 for none, and the
// highest.
func known(values []*float64) (first, last int, high float64) {
	first = -1
	for i, value := range values {
		if value == nil {
			continue
		}
		if first < 0 {
			first = i
		}
		last, high = i, max(high, *value)
	}
	return first, last, high
}

// stretches draws values, the first of which is at the place from. What stays the same is one
// line, and a value on its own a dot.
func stretches(values []*float64, from int, high float64) []string {
	var drawn []string
	var points []point
	end := func() {
		if len(points) > 0 {
			drawn = append(drawn, pointsText(points))
		}
		points = nil
	}
	for i, value := range values {
		if value == nil {
			end()
			continue
		}
		next := point{(from + i) * sampleWidth, heightOf(*value, high)}
		if n := len(points); n > 1 && points[n-1].y == next.y && points[n-2].y == next.y {
			points[n-1] = next
			continue
		}
		points = append(points, next)
	}
	end()
	return drawn
}

// point is a place in the drawing; y counts from the top.
type point struct{ x, y int }

func pointsText(points []point) string {
	if len(points) == 1 {
		points = append(points, points[0])
	}
	var text strings.Builder
	for i, each := range points {
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(strconv.Itoa(each.x) + "," + strconv.Itoa(each.y))
	}
	return text.String()
}

// heightOf counts from the top. What is no part of the highest is at the bottom.
func heightOf(value, high float64) int {
	part := value / high
	if high <= 0 || !(part > 0) {
		return SparkHeight
	}
	return SparkHeight - int(min(part, 1)*SparkHeight+0.5)
}

func producedOf(s *protocol.Samples) []*float64 { return s.ProducedPerSecond }
func consumedOf(s *protocol.Samples) []*float64 { return s.ConsumedPerSecond }
func lagOf(s *protocol.Samples) []*float64      { return s.Lag }
