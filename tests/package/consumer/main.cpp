// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <tutti/version.hpp>

int main() { std::cout << "Tutti " << tutti::version() << '\n'; }
