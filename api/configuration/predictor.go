package configuration

import (
	"encoding/json"
	"fmt"
)

// PredictorExtension is the key in ColocationStrategy.Extensions that holds a PredictorStrategy. Koordinator leaves keys of
// extensions that it does not know alone.
const PredictorExtension = "predictor"

// PredictorNone turns prediction off for a tier, where a wider layer turned it on.
const PredictorNone = "none"

// DefaultColdStartMinutes is PredictorStrategy.ColdStartMinutes when it is not set.
const DefaultColdStartMinutes = 30

// PredictorStrategy chooses how koord-manager predicts the peak of what pods use, for a group of nodes.
type PredictorStrategy struct {
	// Batch is the predictor profile that forecasts the peak usage of pods above batch in the next hour, from which batch
	// resources are calculated. By default they are calculated from the current usage.
	Batch string `json:"batch,omitempty"`
	// Mid is the predictor profile that forecasts the peak usage of prod pods in the next day, from which mid resources are
	// calculated. By default the node agent predicts it.
	Mid string `json:"mid,omitempty"`
	// ColdStartMinutes is the age below which the request of a pod is taken as its usage; 30. 0 to 1440.
	ColdStartMinutes *int64 `json:"coldStartMinutes,omitempty"`
}

// Predictor decodes the choice of predictors; the zero value when there is none. Its error names what cannot be read.
func (s *ColocationStrategy) Predictor() (PredictorStrategy, error) {
	var out PredictorStrategy
	raw, ok := s.Extensions[PredictorExtension]
	if !ok {
		return out, nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return PredictorStrategy{}, fmt.Errorf("decode extensions.%s: %w", PredictorExtension, err)
	}
	for _, profile := range []*string{&out.Batch, &out.Mid} {
		if *profile == PredictorNone {
			*profile = ""
		}
	}
	return out, nil
}
