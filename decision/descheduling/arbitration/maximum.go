package arbitration

import (
	"fmt"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Maximum is how many pods of a workload may migrate or be unavailable: at least 1, at most its replicas, and none of a workload
// without replicas. A value that cannot be read allows 1.
func Maximum(replicas int, value *intstr.IntOrString) int {
	replicas = max(replicas, 0)
	most := 1
	switch {
	case value == nil && replicas > 10:
		most = replicas / 10
	case value == nil && replicas >= 4:
		most = 2
	case value != nil && value.Type == intstr.Int:
		most = value.IntValue()
	case value != nil:
		if percent, err := percentage(value.StrVal); err == nil {
			most = share(replicas, percent)
		}
	}
	return min(max(most, 1), replicas)
}

// ValidMaximum says why a value is no count and no percentage; nil for one that is.
func ValidMaximum(value *intstr.IntOrString) error {
	switch {
	case value == nil:
		return nil
	case value.Type == intstr.String:
		_, err := percentage(value.StrVal)
		return err
	case value.IntVal < 0:
		return fmt.Errorf("%d is negative", value.IntVal)
	}
	return nil
}

// maxDigits of a percentage: a longer one is a mistake, not a number.
const maxDigits = 9

// percentage reads a number of percent, as in "10%".
func percentage(text string) (int64, error) {
	digits, found := strings.CutSuffix(text, "%")
	if !found || digits == "" || len(digits) > maxDigits {
		return 0, fmt.Errorf("%.40q is not a percentage such as 10%%", text)
	}
	var percent int64
	for _, digit := range digits {
		if digit < '0' || digit > '9' {
			return 0, fmt.Errorf("%.40q is not a percentage such as 10%%", text)
		}
		percent = percent*10 + int64(digit-'0')
	}
	return percent, nil
}

// share is a percentage of the replicas, rounded down, and at most all of them.
func share(replicas int, percent int64) int {
	if percent >= 100 {
		return replicas
	}
	product := new(big.Int).Mul(big.NewInt(int64(replicas)), big.NewInt(percent))
	return int(product.Quo(product, big.NewInt(100)).Int64())
}
