package model

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is what stands for a value that nobody knows.
const Unknown = "–"

// Count writes a number with its thousands apart.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "\u202f" + digits[at:]
	}
	return sign + digits
}

// MaybeCount is Count of what may be unknown.
func MaybeCount(n *int64) string {
	if n == nil {
		return Unknown
	}
	return Count(*n)
}

// Rate writes a number a second: whole ones above 10, else with a decimal.
func Rate(r *float64) string {
	switch {
	case r == nil:
		return Unknown
	case math.Abs(*r) >= 10 || *r == 0:
		return Count(int64(math.Round(*r)))
	default:
		return strconv.FormatFloat(*r, 'f', 1, 64)
	}
}

// Age writes milliseconds as the largest unit that fits.
func Age(ms *int64) string {
	if ms == nil {
		return Unknown
	}
	return Duration(time.Duration(*ms) * time.Millisecond)
}

// Seconds writes seconds as Age does.
func Seconds(s *float64) string {
	if s == nil {
		return Unknown
	}
	if *s > math.MaxInt64/float64(time.Second) {
		return "for ever"
	}
	return Duration(time.Duration(*s * float64(time.Second)))
}

// Duration writes a time with one unit, two from a minute on.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// Bytes writes a size with a binary unit.
func Bytes(n *int64) string {
	if n == nil {
		return Unknown
	}
	size, units := float64(*n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	at := 0
	for size >= 1024 && at < len(units)-1 {
		size, at = size/1024, at+1
	}
	if at == 0 {
		return fmt.Sprintf("%d B", *n)
	}
	return fmt.Sprintf("%.1f %s", size, units[at])
}
