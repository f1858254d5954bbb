package main

import (
	"sync"

	"github.com/ebitengine/purego/objc"
)

// Activation policies of NSApplication.
// https://developer.apple.com/documentation/appkit/nsapplication/activationpolicy-swift.enum
const (
	policyRegular   = 0 // Dock icon and menu bar
	policyAccessory = 1 // menu-bar item only
)

var (
	classNSApplication      = sync.OnceValue(func() objc.Class { return objc.GetClass("NSApplication") })
	selSharedApplication    = objc.RegisterName("sharedApplication")
	selSetActivationPolicy  = objc.RegisterName("setActivationPolicy:")
	selDelegate             = objc.RegisterName("delegate")
	selShouldHandleReopen   = objc.RegisterName("applicationShouldHandleReopen:hasVisibleWindows:")
	selObjectClass          = objc.RegisterName("class")
	reopenMethodSignature   = "B@:@B"
	registerReopenOnlyOnce  sync.Once
	reopenRequested         func()
	sharedNSApplicationFunc = func() objc.ID { return objc.ID(classNSApplication()).Send(selSharedApplication) }
)

// showInDock gives the app a Dock icon and a menu bar while its window is open, and takes them away when it lives in the
// menu bar alone. For the main thread.
func showInDock(visible bool) {
	policy := policyAccessory
	if visible {
		policy = policyRegular
	}
	sharedNSApplicationFunc().Send(selSetActivationPolicy, policy)
}

// onReopen calls f when the app is opened again while it runs: from the Finder, Spotlight or the Dock. GLFW's delegate
// does not answer that message, so the method is added to its class. For the main thread.
func onReopen(f func()) {
	reopenRequested = f
	registerReopenOnlyOnce.Do(func() {
		delegate := sharedNSApplicationFunc().Send(selDelegate)
		if delegate == 0 {
			return
		}
		class := objc.Class(delegate.Send(selObjectClass))
		class.AddMethod(selShouldHandleReopen, objc.NewIMP(func(_ objc.ID, _ objc.SEL, _ objc.ID, _ bool) bool {
			reopenRequested()
			return true
		}), reopenMethodSignature)
	})
}
