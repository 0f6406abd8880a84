package capacity

import (
	"math"

	"koordinator.sh/koord/api/extension"
)

// Amplify is value*ratio, rounded up; ratios of 1 and less leave the value as it is. Ratios have two decimals, so the
// product is exact. A result beyond the range of int64 stays at its end; negative values count as zero.
func Amplify(value int64, ratio extension.Ratio) int64 {
	percent := int64(math.Round(float64(ratio) * 100))
	if value <= 0 || percent <= 100 {
		return max(value, 0)
	}
	amplified := Percent(value, percent)
	if rest := (value % 100) * (percent % 100) % 100; rest != 0 && amplified < math.MaxInt64 {
		amplified++
	}
	return amplified
}
