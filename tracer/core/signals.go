package main

// #include <signal.h>
// #include <string.h>
//
// // Go turns a fault in Go code into a panic by handlers for these signals, which it installs when it is loaded. The
// // shim puts the application's dispositions back at once, so that a crash of the application is not Go's business;
// // Go's handlers are in place only while Go code of ours runs. A thread of the application that crashes at such a
// // moment still dies by its own signal: Go resets the handler and raises it again outside of Go code.
// enum { FAULTS = 3 };
// static const int faults[FAULTS] = {SIGSEGV, SIGBUS, SIGFPE};
// static struct sigaction ours[FAULTS], theirs[FAULTS];
// static int known;
//
// static void remember_handlers(void)
// {
// 	for (int i = 0; i < FAULTS; i++)
// 		if (sigaction(faults[i], NULL, &ours[i]) != 0 || ours[i].sa_handler == SIG_DFL)
// 			return;
// 	known = 1;
// }
//
// static void install_handlers(void)
// {
// 	if (known)
// 		for (int i = 0; i < FAULTS; i++)
// 			sigaction(faults[i], &ours[i], &theirs[i]);
// }
//
// static void remove_handlers(void)
// {
// 	if (known)
// 		for (int i = 0; i < FAULTS; i++)
// 			sigaction(faults[i], &theirs[i], NULL);
// }
import "C"

// rememberHandlers is called while the handlers that Go installed are still in place.
func rememberHandlers() { C.remember_handlers() }

func installHandlers() { C.install_handlers() }

func removeHandlers() { C.remove_handlers() }
