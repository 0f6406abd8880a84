package v1alpha1

import "koordinator.sh/koord/api/extension"

// OfClass returns the settings of a QoS class; nil for classes without settings, and without a strategy.
func (s *ResourceQOSStrategy) OfClass(class extension.QoSClass) *ResourceQOS {
	if s == nil {
		return nil
	}
	switch class {
	case extension.QoSLSE, extension.QoSLSR:
		return s.LSRClass
	case extension.QoSLS:
		return s.LSClass
	case extension.QoSBE:
		return s.BEClass
	case extension.QoSSystem:
		return s.SystemClass
	}
	return nil
}
