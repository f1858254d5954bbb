package mtl

// Hot reports whether the Mac is so warm that it slows down: measurements mean nothing then.
//
// Reference: https://developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.property
func Hot() bool {
	if load() != nil {
		return false
	}
	return int(send(processThermal, send(processInfo, class("NSProcessInfo")))) >= ThermalStateSerious
}

// OSVersion is the system's version with its build, for reports.
//
// Reference: https://developer.apple.com/documentation/foundation/processinfo/operatingsystemversionstring
func OSVersion() string {
	if load() != nil {
		return ""
	}
	return goString(send(processOSVersion, send(processInfo, class("NSProcessInfo"))))
}
