package configmerge

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/predict"
)

// extensionsType is what the extensions of a strategy are: anybody's values by key.
var extensionsType = reflect.TypeFor[map[string]json.RawMessage]()

// knownExtensions are the extensions that are read here. All others pass unseen.
var knownExtensions = map[string]reflect.Type{
	configuration.PredictorExtension: reflect.TypeFor[configuration.PredictorStrategy](),
}

// elementType is the type of the value that a map holds at a key.
func elementType(mapType reflect.Type, key string) reflect.Type {
	if known, ok := knownExtensions[key]; ok && mapType == extensionsType {
		return known
	}
	return mapType.Elem()
}

// knownKeys are the keys of a map whose values have a known type, in order.
func knownKeys(mapType reflect.Type) []string {
	if mapType != extensionsType {
		return nil
	}
	return slices.Sorted(maps.Keys(knownExtensions))
}

// predictorProfiles are the words that choose a predictor.
func predictorProfiles() []string {
	words := []string{configuration.PredictorNone}
	for _, profile := range predict.Profiles() {
		words = append(words, profile.Name)
	}
	return words
}
