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
	// Batch is the predictor profile by which batch resources are what pods above batch will leave in the next hour. By
	// default they are what those pods leave now.
	Batch string `json:"batch,omitempty"`
	// Mid is the predictor profile by which mid resources are what prod pods requested and will not use in the next day. By
	// default the prediction is the node agent's.
	Mid string `json:"mid,omitempty"`
	// ColdStartMinutes is the age below which a pod counts with its request; 30. 0 to 1440.
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
